<?php
// A receiver of webhooks: it checks who sent them, and acts once on each event. PHP 7.4 or later, no packages.
//   SVC_WEBHOOK_SECRET=<your signing secret> php -S "127.0.0.1:${PORT:-4242}" receiver.php
// The built-in server is for trying it. On a real one, with TLS, let this file answer one address.
declare(strict_types=1);

const BODY_MAX = 1024 * 1024;

// The signature is made over the bytes as they arrived: a body that was parsed and written again has another one. While
// a rotation's overlap lasts there are two, of the new secret and of the one before; either proves the sender.
function is_signed(string $body, string $secret): bool
{
    $expected = hash_hmac('sha256', $body, $secret);
    $isNewest = hash_equals($expected, (string) ($_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? ''));
    $isPrevious = hash_equals($expected, (string) ($_SERVER['HTTP_X_SERVICE_SIGNATURE_PREVIOUS'] ?? ''));
    return $isNewest || $isPrevious;
}

function act(array $event): void
{
    file_put_contents('php://stderr', "{$event['eventType']} {$event['eventId']}\n");
}

// The same event may come again: it is answered at once, and nothing is done twice. One file for each event does for a
// start: in production the note and the act belong in one database transaction, the note into a table with a unique
// eventId, kept for 30 days or longer.
function act_once(array $event): void
{
    $folder = __DIR__ . '/received';
    if (!is_dir($folder) && !@mkdir($folder, 0700) && !is_dir($folder)) {
        throw new RuntimeException("$folder can't be made");
    }
    $file = fopen($folder . '/' . hash('sha256', $event['eventId']), 'c');
    if ($file === false) throw new RuntimeException("$folder can't be written");
    // Who acts on an event holds its file, and lets go of it however that ends. A file is empty until it ended well: then
    // the event is sent again, and acted on.
    if (!flock($file, LOCK_EX | LOCK_NB, $isHeld)) {
        if ($isHeld) return;
        throw new RuntimeException("a file of $folder can't be locked");
    }
    if (fstat($file)['size'] > 0) return;
    act($event);
    if (fwrite($file, "acted\n") === false) throw new RuntimeException("$folder can't be written");
}

function answer(string $secret): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') return 405;
    if ((int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > BODY_MAX) return 413;
    $body = (string) file_get_contents('php://input', false, null, 0, BODY_MAX + 1);
    if (strlen($body) > BODY_MAX) return 413;
    if (!is_signed($body, $secret)) return 401;
    $event = json_decode($body, true, 64, JSON_THROW_ON_ERROR);
    act_once($event);
    return 200;
}

// An early end of this file is not answered with 2xx, so that the webhook comes again. Of an error only the message is
// logged: a trace shows the arguments of functions, and the secret is one.
http_response_code(500);
try {
    $secret = (string) getenv('SVC_WEBHOOK_SECRET');
    if ($secret === '') throw new RuntimeException('SVC_WEBHOOK_SECRET is not set');
    http_response_code(answer($secret));
} catch (Throwable $error) {
    error_log($error->getMessage());
}
