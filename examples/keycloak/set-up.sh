#!/bin/sh
# Makes the client that svc works under, with one right: to create realms. The creator of a realm may do everything in
# it, and nothing in any other. Run once, where kcadm.sh is; it uses the bootstrap client, and removes it at the end.
#
#   KEYCLOAK_URL   where Keycloak is, as kcadm.sh sees it
#   BOOTSTRAP, PROVISIONER   files with the secrets of the bootstrap client and of the new one
#   KEEP_BOOTSTRAP=1   leaves the bootstrap client
set -eu
url=${KEYCLOAK_URL:-${KC_HOSTNAME:?}}
bootstrap=${BOOTSTRAP:-/run/secrets/keycloak_bootstrap}
provisioner=${PROVISIONER:-/run/secrets/svc_provisioner}
bootstrap_client=${KC_BOOTSTRAP_ADMIN_CLIENT_ID:-bootstrap}
client=${SVC_KEYCLOAK_CLIENT_ID:-svc-provisioner}
kcadm=${KCADM:-/opt/keycloak/bin/kcadm.sh}

# Its session and what it sends stand in files that go at the end, and not in arguments that others see.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
config="--config $folder/kcadm"

# shellcheck disable=SC2086 # the option and its value
{
  KC_CLI_CLIENT_SECRET=$(cat "$bootstrap") \
    "$kcadm" config credentials $config --server "$url" --realm master --client "$bootstrap_client"

  # Without "lightweight" the token names each right of each realm, and grows with them past what a header may hold.
  cat >"$folder/client.json" <<JSON
{
  "clientId": "$client",
  "description": "svc: creates realms, and administers those that it created",
  "secret": "$(cat "$provisioner")",
  "publicClient": false,
  "serviceAccountsEnabled": true,
  "standardFlowEnabled": false,
  "directAccessGrantsEnabled": false,
  "attributes": { "client.use.lightweight.access.token.enabled": "true" }
}
JSON
  "$kcadm" create clients $config -r master -f "$folder/client.json" -i >/dev/null
  "$kcadm" add-roles $config -r master --uusername "service-account-$client" --rolename create-realm

  if [ "${KEEP_BOOTSTRAP:-}" != 1 ]; then
    id=$("$kcadm" get clients $config -r master -q clientId="$bootstrap_client" --fields id --format csv --noquotes)
    "$kcadm" delete "clients/$id" $config -r master
  fi
}
echo "made client $client in realm master: it may create realms"
