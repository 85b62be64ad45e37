#!/bin/sh
# As the image of MongoDB: gives the volume to the user of the server and becomes that user.
set -eu
if [ "$(id -u)" = 0 ]; then
  chown -R mongodb /data/db
  exec setpriv --reuid mongodb --regid mongodb --init-groups "$0" "$@"
fi
export HOME=/tmp
exec /opt/venv/bin/python -B /opt/database --standalone --host 0.0.0.0 --port 27017 --storage-path /data/db --cache-size 256M
