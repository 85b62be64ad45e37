#!/bin/sh
# As the image of Temporal's server: one that listens on all addresses tells the others its own.
set -eu
TEMPORAL_BROADCAST_ADDRESS=$(hostname -i | cut -d ' ' -f 1)
export TEMPORAL_BROADCAST_ADDRESS
exec temporal-server start
