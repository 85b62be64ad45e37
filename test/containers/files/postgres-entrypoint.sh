#!/bin/sh
# As the image of PostgreSQL: an empty volume becomes a database of POSTGRES_USER, which asks for the password.
set -eu
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres "$PGDATA"
  chmod 700 "$PGDATA"
  chown postgres /run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --auth-host scram-sha-256 --auth-local trust
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/run/postgresql
