#!/usr/bin/env sh
# Generates the wire code anew beside the committed one and compares.
set -eu
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
sed "s#packages/wire/src/gen#$fresh#" buf.gen.yaml > "$fresh/../buf.gen.$$.yaml"
buf generate --template "$fresh/../buf.gen.$$.yaml"
rm -f "$fresh/../buf.gen.$$.yaml"
diff -r "$fresh" packages/wire/src/gen || {
  echo "The generated code is not what proto/ gives: run 'pnpm generate' and commit it."
  exit 1
}
echo "generated code is up to date"
