#!/bin/sh
# Starts the command line on the Node that package.json pins, whatever `node` the machine has.
set -eu
self=$(readlink -f "$0")
root=$(dirname "$(dirname "$(dirname "$self")")")
for node in "$root/node_modules/node/bin/node" "$root/../node/bin/node"; do
  # Behind a proxy everything goes through it but this machine.
  if [ -x "$node" ]; then
    NO_PROXY="${NO_PROXY:-${no_proxy:-}},localhost,127.0.0.1,::1"
    no_proxy=$NO_PROXY
    export NO_PROXY no_proxy
    # Most of a short command's time is compiling. The cache lies where nobody else can write.
    NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/forge/compiled}"
    export NODE_COMPILE_CACHE
    # Node resets ignored signals, so only this shell can see that nohup started it.
    case " $* " in *' run '*)
      if [ -r "/proc/$$/status" ] && grep -q '^SigIgn:.*[13579bdf]$' "/proc/$$/status"; then
        FORGE_HANGUP_IGNORED=1
        export FORGE_HANGUP_IGNORED
      fi ;;
    esac
    exec "$node" --use-env-proxy "$root/clients/cli/main.ts" "$@"
  fi
done
echo "forge: run npm ci in $root first" >&2
exit 6
