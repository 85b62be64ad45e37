#!/bin/sh
set -eu
exec ./ui-server --env docker start
