#!/bin/sh
# Replaces the containers of a service of docker-compose.yml by ones of the current image and settings while requests
# and runs go on: starts as many beside them, waits until these are healthy, then stops the others one by one.
#
#   deploy/compose/replace.sh api
set -eu
service=${1:?usage: replace.sh SERVICE}
old=$(docker compose ps --quiet "$service")
[ -n "$old" ] || { echo "no container of $service runs" >&2; exit 1; }
count=$(echo "$old" | wc -l)
docker compose up --detach --wait --no-deps --no-recreate --scale "$service=$((count * 2))" "$service"
for container in $old; do
  docker stop "$container"
  docker rm "$container"
done
