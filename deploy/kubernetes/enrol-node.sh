#!/bin/sh
# Prints the line of users.conf for one node and the command that gives the node its password:
#   ./enrol-node.sh NODE >> users.conf
# Its user may say Hello and report as its own workload and hear its own pushes, and nothing else.
set -eu
node=${1:?usage: enrol-node.sh NODE}
workload=$(printf %s "$node" | tr . -)
case $workload in
  *[!a-z0-9_-]* | "") echo "node $node gives no workload id of [a-z0-9_-]" >&2; exit 2 ;;
esac
password=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
cat <<LINE
  { user: "$workload", password: "$password", permissions: { publish: { allow: ["rw.agent.$workload.hello", "rw.agent.$workload.up.*"] }, subscribe: { allow: ["rw.agent.$workload.down"] } } }
LINE
cat >&2 <<WORDS
on $node, as root:   install -d -m 0700 /etc/ringwall && umask 077 && echo $password > /etc/ringwall/password
then from here:      kubectl label node $node ringwall/enrolled=true
                     ringwall workload admit $workload --namespace NAMESPACE key=value …
WORDS
