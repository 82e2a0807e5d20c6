#!/bin/sh
# Admits the four example hosts by an operator's word and commits the example's rules.
set -eu
ringwall() { node /opt/ringwall/entrypoint.mjs ringwall "$@"; }
ringwall workload admit web-1 --namespace shop app=shop role=web
ringwall workload admit api-1 --namespace shop app=shop role=api
ringwall workload admit db-1 --namespace shop app=shop role=db
ringwall workload admit bastion-1 --namespace shop app=shop role=bastion
ringwall apply -f /etc/ringwall/example/rules.yaml --message "Example of docker compose"
