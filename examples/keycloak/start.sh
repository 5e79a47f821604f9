#!/bin/sh
# Keycloak reads its own secrets from the environment; here they come from files, which `docker inspect` does not show.
set -eu
KC_DB_PASSWORD=$(cat /run/secrets/keycloak_database)
KC_BOOTSTRAP_ADMIN_CLIENT_SECRET=$(cat /run/secrets/keycloak_bootstrap)
export KC_DB_PASSWORD KC_BOOTSTRAP_ADMIN_CLIENT_SECRET
exec /opt/keycloak/bin/kc.sh start
