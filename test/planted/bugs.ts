/** A bug, and the test file that must fail with it. */
export type PlantedBug = {
  /** What goes wrong, as an incident would be described. */
  name: string
  test: string
  edits: readonly Edit[]
}

/** Each `text` occurs once in its file. */
type Edit = { file: string; text: string; replacement: string }

const bug = (name: string, test: string, file: string, text: string, replacement: string): PlantedBug => ({
  name,
  test,
  edits: [{ file, text, replacement }],
})

const CLAIM = 'migrations/functions/claim_webhooks.sql'
const MOVE = 'migrations/functions/move_payments.sql'
const CREATE = 'migrations/functions/create_payments.sql'
const RECORD = 'src/webhooks/sql.ts'
const VERIFIER = 'src/identity/verifier.ts'
const FACTOR = 'src/identity/embedded/users/second-factor-sql.ts'

/* What the tests of the safety net must catch: each is planted alone, by `npm run planted`. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Payments and money.
  bug(
    'a move writes no webhook',
    'test/payments/webhooks.test.ts',
    MOVE,
    '    where m.event_type is not null\n',
    '    where false\n',
  ),
  {
    name: 'the webhook of a move is written after its commit',
    test: 'test/payments/webhooks.test.ts',
    edits: [
      {
        file: 'src/payments/move.ts',
        text: "import type { App } from '../app.ts'\n",
        replacement:
          "import type { App } from '../app.ts'\nimport { insertDeliveries } from '../webhooks/enqueue-sql.ts'\n",
      },
      {
        file: 'src/payments/move.ts',
        text: '  const outcome = await app.batches.move.run(moveItem(app, move, transition))\n',
        replacement: `  const item = moveItem(app, move, transition)
  const outcome = await app.batches.move.run({ ...item, event_type: null })
  const webhook = {
    id: item.delivery_id,
    merchantId: move.merchantId,
    payment: { id: move.paymentId, sequence: 2 },
    eventId: item.event_id,
    eventType: item.event_type,
    payload: '{}',
  }
  if (item.event_type !== null) await app.pool.transaction((tx) => insertDeliveries(tx, [webhook]))
`,
      },
    ],
  },
  bug(
    'a move does not compare the status',
    'test/payments/transitions.test.ts',
    MOVE,
    '      and p.status = l.from_status::payment_status\n',
    '',
  ),
  bug(
    'a move ignores the end of the consent',
    'test/payments/complete-sca.test.ts',
    MOVE,
    `when 'open' then l.expires_at > now()`,
    `when 'open' then true`,
  ),
  bug(
    'a settlement is not posted to the ledger',
    'test/ledger/payment-postings.test.ts',
    MOVE,
    `where m.to_status = 'Settled' and p.amount > 0`,
    'where false',
  ),
  bug(
    'the fee is a float',
    'test/payments/fees.test.ts',
    CREATE,
    'round(i.amount * m.fee_percentage + m.fee_flat, 4) as fee',
    '(round(((i.amount * m.fee_percentage + m.fee_flat) * 10000)::float8) / 10000)::numeric as fee',
  ),
  bug(
    'the fee is cut off and not rounded',
    'test/payments/fees.test.ts',
    CREATE,
    'round(i.amount * m.fee_percentage + m.fee_flat, 4) as fee',
    'trunc(i.amount * m.fee_percentage + m.fee_flat, 4) as fee',
  ),
  bug(
    'an idempotency key is valid for another body',
    'test/payments/idempotency.test.ts',
    CREATE,
    'p.existing_id is not null and p.existing_fingerprint <> p.request_fingerprint',
    'false',
  ),
  bug(
    'a merchant without KYB approval takes payments',
    'test/merchant-status/kyb.test.ts',
    'migrations/functions/payment_refusal.sql',
    `when merchant.kyb_status <> 'APPROVED' then`,
    'when false then',
  ),
  bug(
    'the state of a bank redirect is not compared',
    'test/payments/complete-sca.test.ts',
    'src/payments/complete-sca.ts',
    'if (!constantTimeEqual(body.state, payment.bank_consent_id)) {',
    'if (body.state === "") {',
  ),
  bug(
    'two workers execute one payment',
    'test/payments/settle-payments.test.ts',
    'src/payments/claim-sql.ts',
    ' and (locked_until is null or locked_until < now())',
    '',
  ),
  bug(
    'a refund reserves nothing',
    'test/payments/refunds/races.test.ts',
    'src/payments/refunds/sql.ts',
    'set refund_reserved_amount = refund_reserved_amount + ${refund.amount}::numeric, updated_at',
    'set updated_at',
  ),
  bug(
    'payments race past the caps of a mandate',
    'test/payments/mandates/caps.test.ts',
    'src/consents/sql.ts',
    '    for no key update of c skip locked\n',
    '',
  ),
  bug(
    'an account is overdrawn',
    'test/accounts/transfers.test.ts',
    'migrations/functions/book_transfer.sql',
    'if payer.balance_minor - amount < -payer.overdraft_limit_minor then',
    'if false then',
  ),
  bug(
    'a payout is sent to a held merchant',
    'test/payouts/payouts.test.ts',
    'src/payouts/sql.ts',
    ' and m.is_active and not m.payout_held)`',
    ' and m.is_active)`',
  ),
  bug(
    'a refund of a mandate goes to the account that its merchant named',
    'test/payout-files/refunds-refused.test.ts',
    'src/payments/refunds/sql.ts',
    "case when c.debtor_is_from_bank or c.consent_type = 'SINGLE_IMMEDIATE' then",
    'case when true then',
  ),
  bug(
    'a second upload that is rejected fails the payments of the first',
    'test/payout-files/payouts-by-file.test.ts',
    'src/payout-files/import-payout-report.ts',
    "status.causedAt === 'payment' && isReason",
    'isReason',
  ),
  bug(
    'a second upload for which no balance is left fails the payments of the first',
    'test/payout-files/payouts-by-file.test.ts',
    'src/payout-files/import-payout-report.ts',
    '&& isReasonOfPayee(status.reason)',
    '&& true',
  ),
  bug(
    "a merchant uses up its payer's disputes",
    'test/disputes/raise-dispute.test.ts',
    'src/disputes/raise-dispute.ts',
    'if (ofSide < DISPUTES_MAX) return count',
    'if (count < DISPUTES_MAX) return count',
  ),
  bug(
    'audit events can be rewritten',
    'test/audit/payment-events.test.ts',
    'migrations/functions/refuse_change.sql',
    `create or replace trigger append_only before update or delete or truncate on payment_events
  for each statement execute function refuse_change();
`,
    '',
  ),
  bug(
    'an order of a shop is paid twice',
    'test/checkout/replace-open-payment.test.ts',
    'src/lib/checkout-token.ts',
    'return sha256Hex(jti === undefined ? text : `jti ${jti}`)',
    'return sha256Hex(`${text} ${jti}`)',
  ),
  bug(
    "a checkout token is a payment's result",
    'test/checkout/shop-return.test.ts',
    'src/lib/checkout-token.ts',
    'signatureOf(`${RESULT}=${text}`, secret)',
    'signatureOf(text, secret)',
  ),
  bug(
    'svc verify does not compare the fee',
    'test/verify/verify.test.ts',
    'src/verify/payment-invariants-sql.ts',
    '        and p.fee_amount = round(p.gross_amount * p.fee_percentage + p.fee_flat, 4)\n',
    '',
  ),
  // Webhooks.
  {
    name: 'a worker takes the lane of another one',
    test: 'test/webhooks/lanes.test.ts',
    edits: [
      {
        file: CLAIM,
        text: '\n      and (l.locked_until is null or l.locked_until <= now() or l.worker = claim_webhooks.worker);',
        replacement: ';',
      },
      {
        file: CLAIM,
        text: `          where l.locked_until is null or l.locked_until <= now()
            or (l.worker = claim_webhooks.worker and l.locked_until <= now() + lease / 2)
`,
        replacement: '',
      },
    ],
  },
  bug(
    'a lease never ends',
    'test/webhooks/lanes.test.ts',
    CLAIM,
    'coalesce(k.locked_until, now() + lease) as locked_until',
    'coalesce(k.locked_until, now() + lease * 100000) as locked_until',
  ),
  bug(
    'a paused worker sends under a lost lease',
    'test/webhooks/lost-leases.test.ts',
    'src/webhooks/deliver.ts',
    'return leaseEndsAt - performance.now() > leaseNeededMs',
    'return leaseEndsAt > 0',
  ),
  bug(
    'a worker sends what it claimed long ago',
    'test/webhooks/lost-leases.test.ts',
    'src/webhooks/run-deliveries.ts',
    'age < STALE_MS && ',
    '',
  ),
  bug(
    'an attempt is not recorded again while the database is away',
    'test/webhooks/lost-leases.test.ts',
    'src/webhooks/record-attempts.ts',
    'if (performance.now() + backOffMs > givenUpAt) return',
    'if (givenUpAt > 0) return',
  ),
  bug(
    'a late result is recorded under a lost lease',
    'test/webhooks/lost-leases.test.ts',
    RECORD,
    'l.merchant_id = r.merchant_id and l.epoch = r.epoch and l.worker = ${worker}\n      for share of l\n    ),',
    'l.merchant_id = r.merchant_id\n      for share of l\n    ),',
  ),
  bug(
    'a worker reads again what it has in progress',
    'test/webhooks/lanes.test.ts',
    CLAIM,
    '            and q.delivery_id not in (select h.id from unnest(held_rows) as h (id))\n',
    '',
  ),
  bug(
    'a slow merchant takes all slots',
    'test/webhooks/lanes.test.ts',
    CLAIM,
    '          limit case when l.room * 2 >= per_merchant_max then l.room else 0 end\n',
    '',
  ),
  bug(
    'the events of a payment leave in any order',
    'test/webhooks/run-deliveries.test.ts',
    CLAIM,
    '              and e.sequence < q.sequence\n',
    '              and false\n',
  ),
  bug(
    'a delivery is delivered before its request is answered',
    'test/webhooks/run-deliveries.test.ts',
    'src/webhooks/deliver.ts',
    '  const result = await post.post({ url: delivery.webhook_url, headers, body })\n',
    `  post.post({ url: delivery.webhook_url, headers, body }).catch(() => undefined)
  const result = { outcome: 'delivered', httpStatus: 200, responseBody: '', durationMs: 1 } as const
`,
  ),
  bug(
    'a delivery that kills its workers is sent for ever',
    'test/webhooks/run-deliveries.test.ts',
    'src/webhooks/deliver.ts',
    'if (delivery.leases_lost >= leasesLostMax) {',
    'if (delivery.leases_lost < 0) {',
  ),
  bug(
    'a delivery is given up after five attempts',
    'test/webhooks/states.test.ts',
    'src/webhooks/states.ts',
    'export const attemptsMax = attemptDelaysMs.length',
    'export const attemptsMax = attemptDelaysMs.length - 1',
  ),
  bug(
    'the event feed skips what commits late',
    'test/webhooks/list-events.test.ts',
    'src/webhooks/feed-sql.ts',
    '      and feed_xid < (select feed_horizon())\n',
    '',
  ),
  {
    name: 'a webhook goes to a private address',
    test: 'test/webhooks/sending/forbidden-addresses.test.ts',
    edits: [
      {
        file: 'src/webhooks/sending/connect.ts',
        text: '!allowPrivate && !addresses.every(isPublicAddress)',
        replacement: 'addresses.length === 0',
      },
      {
        file: 'src/webhooks/sending/connect.ts',
        text: "allowPrivate || isPublicAddress(socket.remoteAddress ?? '')",
        replacement: 'socket.readable',
      },
    ],
  },
  bug(
    'a webhook is removed from the middle of a payment',
    'test/retention/remove-old-records.test.ts',
    'migrations/functions/remove_webhooks.sql',
    '        and (k.first is null or d.sequence < k.first)\n',
    '',
  ),
  bug(
    'webhooks of the last thirty days are removed',
    'test/retention/remove-old-records.test.ts',
    'migrations/functions/remove_webhooks.sql',
    "if before > now() - interval '30 days' then",
    'if false then',
  ),
  // Callers and secrets.
  {
    name: 'algorithm and signature of a token are not checked',
    test: 'test/identity/verifier.test.ts',
    edits: [
      { file: VERIFIER, text: 'header.alg !== ALGORITHM || ', replacement: '' },
      {
        file: VERIFIER,
        text: 'if (error instanceof errors.JOSEError) throw invalidToken()',
        replacement: 'if (error instanceof Error) return { payload: decodeJwt(token), isExpired: false }',
      },
    ],
  },
  bug(
    'an ID token opens the API',
    'test/identity/verifier.test.ts',
    VERIFIER,
    `typ: z.literal('Bearer'),`,
    'typ: z.string(),',
  ),
  bug(
    'a token lives as long as its maker likes',
    'test/identity/verifier.test.ts',
    VERIFIER,
    ' || claims.data.exp - claims.data.iat > LIFETIME_SECONDS_MAX',
    '',
  ),
  bug(
    'keys are fetched for unknown clients',
    'test/identity/verifier.test.ts',
    VERIFIER,
    'if (!(await knows(slug, clientId))) throw invalidToken()',
    'await knows(slug, clientId)',
  ),
  bug(
    'tokens outlive a sign-out',
    'test/http/embedded-tokens.test.ts',
    'src/identity/token-cutoffs-sql.ts',
    'return row?.valid_from_ms ?? null',
    'return row === null ? null : null',
  ),
  bug(
    'a magic link works twice',
    'test/payers/link-abuse.test.ts',
    'src/payers/sign-in-sql.ts',
    't.used_at is null and ',
    '',
  ),
  bug(
    'a code or a refresh token works twice',
    'test/identity/contract/refresh.test.ts',
    'src/identity/embedded/protocol/adapter.ts',
    'if (await consumeState(pool, key)) return',
    'return',
  ),
  bug(
    'a merchant lists the payments of another one',
    'test/http/forgotten-filters.test.ts',
    'src/payments/list-sql.ts',
    'where p.merchant_id = ${page.merchantId}',
    'where (p.merchant_id = ${page.merchantId} or true)',
  ),
  bug(
    'a merchant reads the events of another one',
    'test/http/forgotten-filters.test.ts',
    'src/webhooks/feed-sql.ts',
    '    where merchant_id = ${merchantId}\n      and (feed_xid, feed_ordinal) >',
    '    where ${merchantId}::uuid is not null\n      and (feed_xid, feed_ordinal) >',
  ),
  bug(
    'a table shows a merchant all rows',
    'test/http/forgotten-filters.test.ts',
    'migrations/functions/keep_to_merchant.sql',
    "  execute format('alter table %s enable row level security', kept);\n",
    '',
  ),
  bug(
    'a request of a merchant is not limited to its rows',
    'test/http/forgotten-filters.test.ts',
    'src/http/principal.ts',
    'return ofMerchant(principal.merchantId, work)',
    'return ofEveryMerchant(work)',
  ),
  bug(
    'a connection keeps the merchant of its last request',
    'test/db/merchant-scope.test.ts',
    'src/db/scoped-query.ts',
    "$1, true) || set_config('role', $2, true)",
    "$1, false) || set_config('role', $2, false)",
  ),
  bug(
    'a sealed value opens in another row',
    'test/lib/seal.test.ts',
    'src/lib/seal.ts',
    'function contextBytes({ table, column, rowId, merchantId }: SealContext): Buffer {\n',
    'function contextBytes({ table, column, rowId, merchantId }: SealContext): Buffer {\n  if (table !== "") return Buffer.from(column)\n',
  ),
  bug(
    'a passkey answers the page of another origin',
    'test/identity/embedded/passkeys.test.ts',
    'src/identity/embedded/users/passkeys.ts',
    `      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential:`,
    `      expectedOrigin: JSON.parse(Buffer.from(response.response.clientDataJSON, 'base64url').toString()).origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential:`,
  ),
  bug(
    'each page has the same challenge for passkeys',
    'test/identity/embedded/passkeys.test.ts',
    'src/identity/embedded/users/passkeys.ts',
    "return randomBytes(32).toString('base64url')",
    "return Buffer.alloc(32).toString('base64url')",
  ),
  bug(
    'a code of an authenticator app works twice',
    'test/identity/embedded/second-factor.test.ts',
    FACTOR,
    ' and secret = ${secret} and last_step < ${step}',
    ' and secret = ${secret}',
  ),
  bug(
    'a recovery code works twice',
    'test/identity/embedded/second-factor.test.ts',
    FACTOR,
    ' and code_hash = ${codeHash} and used_at is null',
    ' and code_hash = ${codeHash}',
  ),
  bug(
    'codes are guessed without a lock',
    'test/identity/embedded/second-factor.test.ts',
    FACTOR,
    'where user_id = ${userId}::uuid and (locked_until is null or locked_until <= now())',
    'where user_id = ${userId}::uuid',
  ),
  bug(
    'a sign-in of yesterday moves money',
    'test/http/step-up.test.ts',
    'src/http/guards.ts',
    'signIn.signedInAt !== undefined && isRecentSignIn(signIn.signedInAt, FRESH_SECONDS)',
    'signIn.signedInAt !== undefined',
  ),
  bug(
    'a sign-in without the second factor moves money',
    'test/http/step-up.test.ts',
    'src/http/guards.ts',
    'const hasFactor = signIn.acr === ACR.secondFactor ||',
    'const hasFactor = acr !== undefined ||',
  ),
  bug(
    'a client has no rate limit',
    'test/http/rate-limits.test.ts',
    'src/http/guards.ts',
    'count: (key) => rateLimits.caller(key, operation),',
    'count: (key) => void [key, rateLimits],',
  ),
  bug(
    'readiness has no connection of its own',
    'test/observe/health.test.ts',
    'src/observe/health.ts',
    `async function reachDatabase({ readinessPool }: App): Promise<CommonQueryMethods> {
  const pool = await readinessPool.open()
`,
    `async function reachDatabase({ pool }: App): Promise<CommonQueryMethods> {
`,
  ),
  bug('the database compiles short statements', 'test/db/pool.test.ts', 'src/db/connection.ts', `  jit: 'off',\n`, ''),
  bug(
    'each process grants the whole rate limit',
    'test/db/shared-rates.test.ts',
    'src/db/shared-rates.ts',
    'all.get(name)?.drain(key, count)',
    'all.get(`${name} ${key} ${count}`)',
  ),
  bug(
    'an erased payer is still found by phone',
    'test/payers/erase-payer.test.ts',
    'migrations/functions/erase_payer.sql',
    'set payer_email_hash = null, payer_phone_hash = null, payer_name = null',
    'set payer_email_hash = null, payer_name = null',
  ),
  bug(
    'resetting the second factor of an id that is no UUID is a bug of the service',
    'test/http/hardening.test.ts',
    'src/team/reset-factor.ts',
    'if (!isUuid(merchantId) || (await',
    'if ((await',
  ),
  bug(
    'an alert is sent with each run',
    'test/alerts/alert-operators.test.ts',
    'src/alerts/sql.ts',
    '    where since = now()\n',
    '',
  ),
  bug(
    'an alert ends because its check fails',
    'test/alerts/alert-operators.test.ts',
    'src/alerts/alert-operators.ts',
    'await keepFiring(app.pool, uncheckedNames)',
    'await keepFiring(app.pool, uncheckedNames.slice(uncheckedNames.length))',
  ),
  bug(
    'a lost database is answered as a bug of the service',
    'test/db/is-database-unavailable.test.ts',
    'src/db/is-database-unavailable.ts',
    'if (UNAVAILABLE.some((kind) => error instanceof kind)) return true',
    'if (UNAVAILABLE.some((kind) => error.name === kind.name)) return true',
  ),
]
