#!/bin/sh
# Starts the shop and the receiver with the settings of .env; both end with Ctrl+C.
cd "$(dirname "$0")" || exit 1
set -a
. ./.env
set +a
PHP_CLI_SERVER_WORKERS=4 php -S "127.0.0.1:${PORT:-4242}" receiver.php &
receiver=$!
trap 'kill "$receiver" 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
PHP_CLI_SERVER_WORKERS=4 php -S "127.0.0.1:${SHOP_PORT:-4000}" shop.php
