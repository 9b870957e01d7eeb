<?php

/**
 * Throws unless Trilho sent this within the last five minutes. `$body` is file_get_contents('php://input'), before it is
 * parsed; `$headers` are array_change_key_case(getallheaders()).
 */
function verify(string $body, array $headers, string $secret): void
{
    $key = base64_decode(str_replace('whsec_', '', $secret), true);
    if ($key === false || $key === '') throw new RuntimeException('the secret is missing');
    $time = $headers['webhook-timestamp'] ?? '';
    if (!preg_match('/^[0-9]{1,12}$/D', $time) || abs(time() - (int) $time) > 300)
        throw new RuntimeException('too old');
    $signed = ($headers['webhook-id'] ?? '') . ".$time.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    // While the secret is being rotated there are two signatures: one that fits is enough.
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $given)
        if (hash_equals($expected, $given)) return;
    throw new RuntimeException('not signed with this secret');
}

// Tries requests from standard input, one per line: id, time, signatures and body, with tabs between them.
while (($line = fgets(STDIN)) !== false) {
    [$id, $time, $signatures, $body] = explode("\t", rtrim($line, "\n"), 4);
    $headers = ['webhook-id' => $id, 'webhook-timestamp' => $time, 'webhook-signature' => $signatures];
    try {
        verify($body, $headers, getenv('TRILHO_WEBHOOK_SECRET') ?: '');
        echo "good\n";
    } catch (RuntimeException $refused) {
        echo $refused->getMessage(), "\n";
    }
}
