#!/bin/sh
# Whether the server takes connections: all that the health check needs of mongosh here.
exec nc -z 127.0.0.1 27017
