<?php
// A shop that takes payments: it makes one for an order, sends the payer to the bank, and says how it ended. PHP 7.4 or
// later, no packages. README.md shows how to start it. What has to be right about webhooks is in receiver.php.
declare(strict_types=1);

// The price is the server's: nothing of it comes from the browser.
const ORDER = ['amount' => '12.50', 'currency' => 'GBP', 'remittance_reference' => 'MARMALADE 1'];

function setting(string $name, string $otherwise = ''): string
{
    $value = (string) getenv($name);
    return $value === '' ? $otherwise : $value;
}

function call(string $url, array $headers = [], ?string $body = null): array
{
    $http = ['method' => $body === null ? 'GET' : 'POST', 'header' => $headers, 'timeout' => 15, 'ignore_errors' => true, 'follow_location' => 0];
    $text = file_get_contents($url, false, stream_context_create(['http' => $body === null ? $http : $http + ['content' => $body]]));
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    if ($text === false || $status < 200 || $status >= 300) throw new RuntimeException("$url answered $status", $status);
    return json_decode($text, true, 64, JSON_THROW_ON_ERROR);
}

// Proves the shop: a token of its client. A real shop keeps it until shortly before it expires. A sandbox without an
// identity provider takes the client's name alone.
function credentials(string $service): string
{
    $authUrl = call("$service/api/v1/service")['auth_url'];
    if ($authUrl === null) return 'X-Merchant-Client-Id: ' . setting('SVC_CLIENT_ID');
    $form = ['grant_type' => 'client_credentials', 'client_id' => setting('SVC_CLIENT_ID'), 'client_secret' => setting('SVC_CLIENT_SECRET')];
    $url = "$authUrl/realms/" . rawurlencode(setting('SVC_REALM')) . '/protocol/openid-connect/token';
    $answer = call($url, ['Content-Type: application/x-www-form-urlencoded'], http_build_query($form));
    return "Authorization: Bearer {$answer['access_token']}";
}

// What a real shop has in its database: the payment of each order, here in a file for each.
function order_file(string $number): string
{
    if (!preg_match('/^[0-9a-f]{32}$/', $number)) throw new InvalidArgumentException('no order has such a number');
    return __DIR__ . "/orders/$number";
}

// The order's number is the idempotency key: whatever is repeated, the order is paid once.
function pay(string $service, string $shop): string
{
    $number = bin2hex(random_bytes(16));
    $headers = [credentials($service), 'Content-Type: application/json', "X-Idempotency-Key: $number"];
    $payment = call("$service/api/v1/payments", $headers, json_encode(ORDER + ['redirect_uri' => "$shop/orders/$number"]));
    if (!is_dir(__DIR__ . '/orders')) mkdir(__DIR__ . '/orders', 0700);
    file_put_contents(order_file($number), $payment['payment_id']);
    return $payment['redirect_url'];
}

// What the bank sent the payer back with ends the authorisation. A second time, as with a page that is loaded again, it is
// refused, and nothing is lost by that.
function complete(string $service, string $id, array $query): void
{
    $body = array_intersect_key($query, array_flip(['state', 'code', 'error']));
    try {
        call("$service/api/v1/payments/$id/sca-complete", ['Content-Type: application/json'], json_encode($body));
    } catch (RuntimeException $error) {
        if ($error->getCode() < 400 || $error->getCode() >= 500) throw $error;
    }
}

function page(string $content): string
{
    return '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The corner shop</title>'
        . '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        . "<body><h1>The corner shop</h1>$content</body></html>";
}

function answer(string $service, string $shop, string $method, string $path): string
{
    if ($method === 'GET' && $path === '/')
        return page('<p>One jar of marmalade, 12.50 GBP</p><form method="post" action="/pay"><button>Pay by bank</button></form>');
    if ($method === 'POST' && $path === '/pay') {
        header('Location: ' . pay($service, $shop), true, 303);
        return '';
    }
    if ($method === 'GET' && preg_match('~^/orders/([0-9a-f]{32})$~', $path, $found) && is_file(order_file($found[1]))) {
        $id = rawurlencode(file_get_contents(order_file($found[1])));
        if (isset($_GET['state'])) {
            complete($service, $id, $_GET);
            header("Location: $path", true, 303);
            return '';
        }
        // A payer who comes back may have paid or not: ask the service, and never trust the address.
        $payment = call("$service/api/v1/payments/$id", [credentials($service)]);
        return page('<p>Your payment: ' . htmlspecialchars($payment['status']) . '</p>');
    }
    http_response_code(404);
    return page('<p>There is no such page.</p>');
}

header('Cache-Control: no-store');
header("Content-Security-Policy: default-src 'none'; base-uri 'none'; frame-ancestors 'none'");
try {
    $shop = setting('SHOP_URL', 'http://localhost:' . setting('SHOP_PORT', '4000'));
    $path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    echo answer(setting('SVC_URL', 'http://127.0.0.1:8080'), $shop, $_SERVER['REQUEST_METHOD'], $path);
} catch (Throwable $error) {
    error_log($error->getMessage());
    http_response_code(502);
    echo page('<p>Paying does not work just now. Please try again.</p>');
}
