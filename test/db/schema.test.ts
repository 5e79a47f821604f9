import t from 'tap'
import pg from 'pg'
import { makePgConnection } from '../../src/db/connection.ts'
import { testDatabase } from '../support/database.ts'

/*
 * The contract's Resources, transcribed: table by table, column by column. `required` stands where the
 * contract, or the sense of a column, leaves no room for null; columns of our own beside these are free.
 */
type Column = { type: string; required?: boolean; unique?: boolean }

const UUID = { type: 'uuid', required: true }
const TIME = { type: 'timestamp with time zone' }
const MONEY = { type: 'numeric(19,4)' }

const RESOURCES: Record<string, Record<string, Column>> = {
  merchants: {
    id: { ...UUID, unique: true },
    client_id: { type: 'text', required: true, unique: true },
    legal_name: { type: 'text', required: true },
    trading_name: { type: 'text', required: true },
    name: { type: 'text' },
    kyb_status: { type: 'kyb_status', required: true },
    fee_percentage: { type: 'numeric(5,4)', required: true },
    fee_flat: { type: 'numeric(10,2)', required: true },
    webhook_url: { type: 'text' },
    is_active: { type: 'boolean', required: true },
    realm_slug: { type: 'text', unique: true },
    webhook_signing_secret: { type: 'text', required: true },
    branding_config: { type: 'json' },
    payout_held: { type: 'boolean', required: true },
    payout_held_at: TIME,
    payout_held_by: { type: 'text' },
  },
  merchant_bank_accounts: {
    id: UUID,
    merchant_id: UUID,
    account_holder_name: { type: 'text', required: true },
    encrypted_account_number: { type: 'text', required: true },
    encrypted_sort_code: { type: 'text', required: true },
    encrypted_iban: { type: 'text' },
    is_active: { type: 'boolean', required: true },
  },
  payment_consents: {
    id: UUID,
    merchant_id: UUID,
    consent_type: { type: 'consent_type', required: true },
    status: { type: 'consent_status', required: true },
    bank_consent_reference: { type: 'text', unique: true },
    amount: MONEY,
    currency: { type: 'character(3)', required: true },
    control_parameters: { type: 'json' },
    expires_at: { ...TIME, required: true },
    payer_name: { type: 'character varying(140)' },
    debtor_account_scheme: { type: 'debtor_account_scheme' },
    debtor_identification: { type: 'text' },
    remittance_reference: { type: 'character varying(18)' },
    debtor_bank_id: { type: 'character varying(50)' },
  },
  payment_intents: {
    id: { ...UUID, unique: true },
    merchant_id: UUID,
    consent_id: UUID,
    idempotency_key: { type: 'character varying(255)', required: true },
    amount: { ...MONEY, required: true },
    gross_amount: { ...MONEY, required: true },
    fee_amount: { ...MONEY, required: true },
    net_amount: { ...MONEY, required: true },
    currency: { type: 'character(3)', required: true },
    status: { type: 'payment_status', required: true },
    end_to_end_id: { type: 'character varying(35)', required: true, unique: true },
    bank_consent_id: { type: 'text', required: true },
    bank_reference: { type: 'text' },
    failure_code: { type: 'text' },
    refunded_amount: { ...MONEY, required: true },
  },
  payment_events: {
    ordinal: { type: 'bigint', required: true, unique: true },
    id: { ...UUID, unique: true },
    payment_intent_id: UUID,
    previous_status: { type: 'payment_status' },
    new_status: { type: 'payment_status', required: true },
    changed_by: { type: 'character varying(100)', required: true },
    raw_payload: { type: 'json', required: true },
    raw_payload_sha256: { type: 'character(64)', required: true },
  },
  customers: { external_customer_id: { type: 'text', required: true, unique: true }, email: { type: 'text' } },
  accounts: { customer_id: UUID, balance_minor: { type: 'bigint', required: true } },
  transactions: { account_id: UUID, amount_minor: { type: 'bigint', required: true } },
  platform_users: {
    id: UUID,
    keycloak_user_id: { type: 'text', required: true, unique: true },
    role: { type: 'platform_role', required: true },
  },
  webhook_deliveries: {
    id: UUID,
    merchant_id: UUID,
    payment_intent_id: { type: 'uuid' },
    event_id: { type: 'character varying(64)', required: true, unique: true },
    event_type: { type: 'character varying(64)', required: true },
    payload: { type: 'json', required: true },
    status: { type: 'webhook_delivery_status', required: true },
    attempt_count: { type: 'smallint', required: true },
    next_retry_at: { ...TIME, required: true },
    last_http_status: { type: 'smallint' },
    last_error: { type: 'text' },
    delivered_at: TIME,
  },
}

const ENUMS: Record<string, string[]> = {
  kyb_status: ['PENDING', 'APPROVED', 'SUSPENDED'],
  platform_role: ['OWNER', 'OPS', 'SUPPORT'],
  consent_type: ['SINGLE_IMMEDIATE', 'VARIABLE_RECURRING'],
  consent_status: ['AWAITING_AUTHORISATION', 'AUTHORISED', 'REJECTED', 'REVOKED', 'EXPIRED'],
  debtor_account_scheme: ['UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN'],
  payment_status: ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded'],
  webhook_delivery_status: ['PENDING', 'DELIVERED', 'FAILED', 'DEAD'],
}

/** The rights of the service's role on each table, and no others. */
const TABLE_GRANTS: Record<string, string> = {
  'idp.action_tokens': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.clients': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.passkeys': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.recovery_codes': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.realms': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.second_factors': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.state': 'DELETE,INSERT,SELECT,UPDATE',
  'idp.users': 'DELETE,INSERT,SELECT,UPDATE',
  'mock_bank.authorisations': 'INSERT,SELECT',
  'mock_bank.bank_credits': 'INSERT,SELECT',
  'mock_bank.bank_debits': 'INSERT,SELECT',
  'mock_bank.code_tries': 'INSERT,SELECT',
  'mock_bank.faults': 'DELETE,INSERT,SELECT,UPDATE',
  'mock_bank.payouts': 'INSERT,SELECT',
  'mock_bank.refusals': 'INSERT,SELECT',
  'public.accounts': 'INSERT,SELECT',
  'public.audit_checkpoints': 'INSERT,SELECT',
  'public.bank_registrations': 'INSERT,SELECT,UPDATE',
  'public.bank_software_statements': 'INSERT,SELECT,UPDATE',
  'public.backup_verification': 'INSERT,SELECT,UPDATE',
  'public.bank_outages': 'INSERT,SELECT,UPDATE',
  'public.bank_tests': 'INSERT,SELECT,UPDATE',
  'public.bank_statement_lines': 'INSERT,SELECT',
  'public.bank_statements': 'INSERT,SELECT',
  'public.corrections': 'INSERT,SELECT',
  'public.customer_clients': 'INSERT,SELECT',
  'public.customer_proxies': 'INSERT,SELECT',
  'public.customers': 'INSERT,SELECT',
  'public.dispute_events': 'INSERT,SELECT',
  'public.disputes': 'INSERT,SELECT',
  'public.ledger_balances': 'SELECT',
  'public.ledger_entries': 'SELECT',
  'public.ledger_kept_balances': 'SELECT',
  'public.ledger_recount': 'SELECT',
  'public.ledger_sides': 'SELECT',
  'public.ledger_unfolded': 'SELECT',
  'public.lookup_keys': 'INSERT,SELECT',
  'public.operator_alerts': 'DELETE,INSERT,SELECT,UPDATE',
  'public.operator_alert_messages': 'DELETE,INSERT,SELECT,UPDATE',
  'public.mails': 'DELETE,INSERT,SELECT,UPDATE',
  'public.merchant_bank_accounts': 'INSERT,SELECT,UPDATE',
  'public.merchant_client': 'INSERT,SELECT',
  'public.merchants': 'INSERT,SELECT,UPDATE',
  'public.open_settlements': 'SELECT',
  'public.operator_actions': 'INSERT,SELECT',
  'public.order_keys': 'DELETE,INSERT,SELECT,UPDATE',
  'mock_bank.ended_mandates': 'INSERT,SELECT',
  'public.payer_failed_verifications': 'DELETE,INSERT,SELECT',
  'public.payer_link_requests': 'DELETE,INSERT,SELECT',
  'public.payer_sessions_ended': 'DELETE,INSERT,SELECT',
  'public.payer_tokens': 'DELETE,INSERT,SELECT',
  'public.payment_consents': 'SELECT',
  'public.payment_events': 'SELECT',
  'public.payment_intents': 'SELECT',
  'public.failed_look_ups': 'DELETE,INSERT,SELECT',
  'public.payment_orders': 'INSERT,SELECT',
  'public.payment_refunds': 'INSERT,SELECT',
  'public.refund_events': 'SELECT',
  'public.payout_events': 'SELECT',
  'public.payout_files': 'INSERT,SELECT',
  'public.payout_payees': 'SELECT',
  'public.payout_prospects': 'SELECT',
  'public.payout_return_positions': 'INSERT,SELECT,UPDATE',
  'public.reconciliations': 'DELETE,INSERT,SELECT',
  'public.verifications': 'DELETE,INSERT,SELECT',
  'public.payouts': 'INSERT,SELECT',
  'public.payment_requests': 'INSERT,SELECT',
  'obie.calls': 'DELETE,INSERT,SELECT',
  'obie.consents': 'INSERT,SELECT',
  'obie.payments': 'INSERT,SELECT',
  'obie.visits': 'INSERT,SELECT',
  'public.database_mode': 'INSERT,SELECT',
  'public.feed_offset': 'SELECT',
  'public.platform_clients': 'INSERT,SELECT',
  'public.platform_users': 'INSERT,SELECT,UPDATE',
  'public.token_cutoffs': 'INSERT,SELECT,UPDATE',
  'public.unanswered_payments': 'DELETE,INSERT,SELECT',
  'public.recurring_payments': 'INSERT,SELECT',
  'public.registration': 'INSERT,SELECT,UPDATE',
  'public.registration_attempt': 'DELETE,INSERT,SELECT',
  'public.sandbox_clock_shifts': 'SELECT',
  'public.schema_functions': 'SELECT',
  'public.schema_migrations': 'SELECT',
  'public.settlement_lines': 'SELECT',
  'public.settlements': 'SELECT',
  'public.team_members': 'INSERT,SELECT,UPDATE',
  'public.transactions': 'SELECT',
  'public.transfers': 'SELECT',
  'public.webhook_attempts': 'INSERT,SELECT',
  'public.webhook_deliveries': 'INSERT,SELECT',
  'public.webhook_lanes': 'INSERT,SELECT,UPDATE',
  'public.webhook_log': 'SELECT',
  'public.webhook_waiting': 'DELETE,INSERT,SELECT',
  'public.webhook_queue': 'DELETE,INSERT,SELECT,UPDATE',
}

/** Its rights on single columns; all of them are updates. */
const COLUMN_GRANTS: Record<string, string[]> = {
  'mock_bank.authorisations': ['exchange_calls', 'execution_calls', 'scenario_ended_at', 'scenario_locked_until'],
  'mock_bank.code_tries': ['was_wrong', 'wrong_codes'],
  'obie.consents': ['consent_id', 'renewed_until', 'request', 'tokens'],
  'obie.payments': ['asked_at', 'asked_before_at', 'bank_payment_id', 'first_sent_at', 'request', 'times_asked'],
  'obie.visits': ['bank_code', 'code_hash', 'returned_at', 'verifier'],
  'mock_bank.payouts': ['return_ordinal', 'returned_at', 'will_return'],
  'public.accounts': ['overdraft_limit_minor', 'status'],
  'public.verifications': ['failure', 'finished_at', 'next_run_at', 'violations'],
  'public.reconciliations': [
    'difference_count',
    'difference_counts',
    'differences',
    'failure',
    'finished_at',
    'next_run_at',
    'status',
    'totals',
  ],
  'public.bank_statement_lines': [
    'matched_at',
    'matched_by',
    'merchant_id',
    'payment_id',
    'payout_id',
    'refund_id',
    'resolution_reason',
  ],
  'public.disputes': [
    'assignee',
    'escalation_reason',
    'evidence_missing',
    'merchant_evidence',
    'refund_id',
    'resolution_note',
    'resolved_at',
    'resolved_by',
    'status',
    'updated_at',
  ],
  'public.merchant_client': ['revoked_at'],
  'public.lookup_keys': ['key'],
  'public.payer_link_requests': ['contact', 'handled_at'],
  'public.payer_tokens': ['contact', 'used_at'],
  'public.payment_consents': ['debtor_identification', 'revocation_due_at', 'updated_at'],
  'public.payment_intents': [
    'locked_until',
    'refund_reserved_amount',
    'refunded_amount',
    'settle_at',
    'updated_at',
    'webhook_sequence',
  ],
  'public.payment_orders': ['attempt_count', 'locked_until', 'status', 'status_reason_code', 'updated_at'],
  'public.payment_refunds': [
    'attempt_count',
    'bank_reference',
    'failure_code',
    'file_id',
    'resume_at',
    'sent_at',
    'status',
    'updated_at',
  ],
  'public.payment_requests': ['counterparty_account_id', 'order_id', 'status', 'status_reason_code', 'updated_at'],
  'public.payout_files': ['content'],
  'public.payouts': [
    'attempt_count',
    'bank_reference',
    'changed_by',
    'failed_at',
    'failure_code',
    'file_id',
    'locked_until',
    'next_attempt_at',
    'paid_at',
    'retry_at',
    'returned_at',
    'sent_at',
    'status',
    'unexpected_return_at',
    'updated_at',
  ],
  'public.platform_clients': ['revoked_at'],
  'public.recurring_payments': [
    'last_run_day',
    'next_run_at',
    'next_run_day',
    'retry_at',
    'run_count',
    'status',
    'updated_at',
  ],
  'public.settlements': ['payout_id'],
  'public.unanswered_payments': ['bank_reference', 'since'],
  'public.webhook_deliveries': [
    'attempt_count',
    'delivered_at',
    'last_error',
    'last_http_status',
    'next_retry_at',
    'status',
  ],
}

/** Functions that act with the owner's rights. The callable ones are callable by the runtime role alone. */
const DEFINERS: Record<string, 'callable' | 'trigger'> = {
  advance_sandbox_clock: 'callable',
  queue_late_webhook_delivery: 'trigger',
  book_transfer: 'callable',
  create_payments: 'callable',
  erase_payer: 'callable',
  expire_mandates: 'callable',
  close_settlement: 'callable',
  fold_ledger: 'callable',
  hold_balances: 'trigger',
  leave_payer_contact: 'callable',
  revoke_consent: 'callable',
  move_payments: 'callable',
  post_ledger: 'callable',
  queue_webhook_delivery: 'trigger',
  record_payout_event: 'trigger',
  record_refund_event: 'trigger',
  remove_webhooks: 'callable',
  seal_operator_action: 'trigger',
  seconds_to_next_mail: 'callable',
}

/** The functions that choose how PostgreSQL plans their statements. */
const PLANNER_SETTINGS: Record<string, string[]> = {
  create_payments: ['plan_cache_mode=force_generic_plan'],
  close_settlement: ['enable_sort=off', 'enable_bitmapscan=off'],
}

const { url: databaseUrl } = await testDatabase(t)
const owner: pg.Client = await makePgConnection({ databaseUrl, onError: () => undefined })
t.teardown(() => owner.end())

async function all<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  return (await owner.query<Row>(text)).rows
}

t.test('every field of the contract is a column of its type', async (t) => {
  const columns = await all<{ table: string; name: string; type: string; required: boolean }>(`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
  `)
  const unique = await all<{ table: string; name: string }>(`
    select c.relname as table, a.attname as name
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where i.indisunique and i.indnkeyatts = 1 and i.indpred is null and c.relnamespace = 'public'::regnamespace
  `)
  for (const [table, fields] of Object.entries(RESOURCES)) {
    for (const [name, field] of Object.entries(fields)) {
      const column = columns.find((each) => each.table === table && each.name === name)
      t.equal(column?.type, field.type, `${table}.${name}`)
      if (field.required) t.ok(column?.required, `${table}.${name} is required`)
      else t.notOk(column?.required && table !== 'merchants', `${table}.${name} is optional`)
      if (field.unique)
        t.ok(
          unique.some((each) => each.table === table && each.name === name),
          `${table}.${name} is unique`,
        )
    }
  }
})

t.test("the enumerations have the contract's values, in its order", async (t) => {
  const rows = await all<{ name: string; values: string[] }>(`
    select t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as values
    from pg_type t join pg_enum e on e.enumtypid = t.oid group by t.typname
  `)
  const found = Object.fromEntries(rows.map(({ name, values }) => [name, values]))
  for (const [name, values] of Object.entries(ENUMS)) t.same(found[name], values, name)
})

t.test('one payment for each merchant and idempotency key', async (t) => {
  const rows = await all<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = 'payment_intents'::regclass and contype = 'u'`,
  )
  t.ok(rows.some(({ text }) => text === 'UNIQUE (idempotency_key, merchant_id)'))
})

t.test('the ordinal is a bigserial and the primary key', async (t) => {
  const [row] = await all<{ key: string; sequence: string; type: string }>(`
    select pg_get_constraintdef(oid) as key, pg_get_serial_sequence('payment_events', 'ordinal') as sequence,
      (select seqtypid::regtype::text from pg_sequence where seqrelid = pg_get_serial_sequence('payment_events', 'ordinal')::regclass) as type
    from pg_constraint where conrelid = 'payment_events'::regclass and contype = 'p'
  `)
  t.same(row, { key: 'PRIMARY KEY (ordinal)', sequence: 'public.payment_events_ordinal_seq', type: 'bigint' })
})

/** Tables of the bank's customers, who are tenants of their own: these refer to each other through the customer. */
const OF_CUSTOMERS = [
  'accounts',
  'customer_clients',
  'customer_proxies',
  'order_keys',
  'failed_look_ups',
  'payment_orders',
  'payment_requests',
  'recurring_payments',
]
/** The bank's own books and its list of customers; an account's number is its key in them. */
const BOOKS = ['customers', 'transactions', 'transfers']

/** Tables that belong to no tenant, or to none in some of their rows, and why. */
const NO_TENANT: Record<string, string> = {
  audit_checkpoints: 'of the whole trail',
  bank_registrations: 'of the platform',
  bank_software_statements: 'of the platform',
  backup_verification: 'of the platform',
  bank_outages: 'of the platform',
  bank_tests: 'of the platform',
  bank_statement_lines: 'null until it is known whose money a line is',
  bank_statements: "of the platform's own account",
  merchants: 'the tenants themselves',
  mails: "null in the platform's own mail",
  operator_actions: 'null in what is about no merchant',
  payer_failed_verifications: 'payers are of no merchant',
  payer_link_requests: 'payers are of no merchant',
  payer_sessions_ended: 'payers are of no merchant',
  payer_tokens: 'payers are of no merchant',
  payout_files: 'of payouts of many merchants',
  payout_return_positions: "of the platform's own banks",
  reconciliations: 'of all merchants',
  verifications: 'of all merchants',
  operator_alerts: 'of the operators',
  operator_alert_messages: 'of the operators',
  platform_clients: "the platform's own",
  platform_users: "the platform's own",
  token_cutoffs: 'of realms, whose merchant is in the merchant',
  registration: 'null until the merchant is there',
  database_mode: 'of the whole service',
  feed_offset: 'of the server',
  lookup_keys: 'of the installation',
  registration_attempt: 'before anyone is a merchant',
  sandbox_clock_shifts: 'of a merchant or of a customer of the bank',
}

t.test('every table of a tenant names its tenant, and refers to its neighbours through the tenant', async (t) => {
  const tables = await all<{ name: string; tenant: boolean }>(`
    select c.relname as name, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'merchant_id' and a.attnotnull) as tenant
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  `)
  t.same(
    tables
      .filter(({ tenant }) => !tenant)
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('schema_') && !OF_CUSTOMERS.includes(name) && !BOOKS.includes(name))
      .toSorted(),
    Object.keys(NO_TENANT).toSorted(),
  )
  const keys = await all<{ table: string; target: string; columns: string[]; targets: string[] }>(`
    select k.conrelid::regclass::text as table, k.confrelid::regclass::text as target,
      array(select attname::text from pg_attribute where attrelid = k.conrelid and attnum = any (k.conkey)) as columns,
      array(select attname::text from pg_attribute where attrelid = k.confrelid and attnum = any (k.confkey)) as targets
    from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace
  `)
  t.ok(keys.length >= 9)
  for (const key of keys) {
    if (BOOKS.includes(key.table)) continue
    if (OF_CUSTOMERS.includes(key.table)) {
      const isOfCustomer = key.columns.some((column) => ['customer_id', 'counterparty_id', 'payer_id'].includes(column))
      // A payment names the request that made it, whose maker may be another customer.
      t.ok(isOfCustomer || key.target === 'payment_requests', `${key.table} to ${key.target}`)
      if (OF_CUSTOMERS.includes(key.target) && key.target !== 'payment_requests')
        t.ok(key.targets.includes('customer_id'), `${key.table} to ${key.target}`)
      continue
    }
    // Of the platform's own, whose rows are of many merchants.
    if (key.target === 'bank_statements' || key.target === 'payout_files') continue
    t.ok(key.columns.includes('merchant_id'), `${key.table} to ${key.target}`)
    if (NO_TENANT[key.target] === undefined) t.ok(key.targets.includes('merchant_id'), `${key.table} to ${key.target}`)
  }
})

t.test('the database itself rejects a reference from one tenant to another', async (t) => {
  const [a, b] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  for (const [id, name] of [
    [a, 'a'],
    [b, 'b'],
  ]) {
    await owner.query(
      `insert into merchants (id, client_id, legal_name, trading_name, name, fee_percentage, fee_flat, webhook_signing_secret) values ($1, $2, $2, $2, $2, 0.01, 0.20, 'v1.x')`,
      [id, name],
    )
  }
  await owner.query(
    `insert into payment_consents (id, merchant_id, consent_type, status, amount, currency, expires_at) values ($1, $1, 'SINGLE_IMMEDIATE', 'AWAITING_AUTHORISATION', 50, 'GBP', now())`,
    [a],
  )
  const insert = (merchant: string | undefined) =>
    owner.query(
      `insert into payment_intents (id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount, net_amount, fee_percentage, fee_flat,
         currency, status, end_to_end_id, bank_consent_id, bank_connector, redirect_uri)
       values ($1::uuid, $1, $2, 'k', repeat('0', 64), 50, 50, 0.7, 49.3, 0.01, 0.20, 'GBP', 'AwaitingAuthorisation', 'SVC' || md5($1::text), $1::text, 'mock', 'x')`,
      [merchant, a],
    )
  await t.rejects(insert(b), { code: '23503' })
  await t.resolves(insert(a))
})

/** Rows that break a rule of money, each rejected by the database even if the code allows them. */
const BROKEN: [name: string, set: string][] = [
  ['a gross amount of nothing', 'gross_amount = 0, amount = 0, net_amount = -0.7'],
  ['a gross amount that is not a number', `gross_amount = 'NaN', amount = 'NaN', net_amount = 'NaN'`],
  ['a negative gross amount', 'gross_amount = -50, amount = -50, net_amount = -50.7'],
  ['an amount that is not the gross', 'amount = 49'],
  ['a net that is not gross less fee', 'net_amount = 49.31'],
  ['a net of nothing', 'fee_amount = 50, net_amount = 0'],
  ['a negative fee', 'fee_amount = -1, net_amount = 51'],
  ['more refunded than was paid', 'refunded_amount = 50.0001'],
  ['refunds and reservations above the gross', 'refunded_amount = 30, refund_reserved_amount = 20.0001'],
  ['a negative reservation', 'refund_reserved_amount = -0.0001'],
  ['Refunded without the money', `status = 'Refunded'`],
  ['Failed without a code', `status = 'Failed'`],
  ['a code without a failure', `failure_code = 'BANK_ERROR', failure_source = 'SCHEME'`],
  ['a currency in small letters', `currency = 'gbp'`],
  ['an end-to-end id of another form', `end_to_end_id = 'SVC' || repeat('G', 32)`],
]

t.test('money that does not add up is rejected by the database', async (t) => {
  for (const [name, set] of BROKEN)
    await t.rejects(owner.query(`update payment_intents set ${set}`), { code: /^(23514|22003)$/ }, name)
})

t.test("the service's role owns nothing and is a member of no other role", async (t) => {
  const [role] = await all<Record<string, unknown>>(
    `select rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls from pg_roles where rolname = 'svc_runtime'`,
  )
  t.same(role, {
    rolsuper: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolcanlogin: false,
    rolreplication: false,
    rolbypassrls: false,
  })
  t.same(
    await all(
      `select classid::regclass, objid from pg_shdepend where refobjid = 'svc_runtime'::regrole and deptype = 'o'`,
    ),
    [],
  )
  t.same(await all(`select roleid::regrole from pg_auth_members where member = 'svc_runtime'::regrole`), [])
  const [schema] = await all(`
    select has_schema_privilege('svc_runtime', 'public', 'create') as public, has_schema_privilege('svc_runtime', 'mock_bank', 'create') as mock_bank,
      has_schema_privilege('svc_runtime', 'idp', 'create') as idp,
      has_database_privilege('svc_runtime', current_database(), 'create') as database
  `)
  t.same(schema, { public: false, mock_bank: false, idp: false, database: false })
})

t.test("the service's role has these rights on tables and columns, and no other", async (t) => {
  const tables = await all<{ name: string; rights: string }>(`
    select format('%s.%s', c.relnamespace::regnamespace, c.relname) as name, string_agg(a.privilege_type, ',' order by a.privilege_type) as rights
    from pg_class c cross join lateral aclexplode(c.relacl) a
    where c.relkind in ('r', 'p', 'v') and a.grantee in ('svc_runtime'::regrole, 0) and c.relnamespace::regnamespace::text in ('public', 'mock_bank', 'idp', 'obie')
    group by 1
  `)
  t.same(Object.fromEntries(tables.map(({ name, rights }) => [name, rights])), TABLE_GRANTS)
  const columns = await all<{ name: string; right: string; columns: string[] }>(`
    select format('%s.%s', c.relnamespace::regnamespace, c.relname) as name, a.privilege_type as right, array_agg(t.attname::text order by t.attname) as columns
    from pg_attribute t join pg_class c on c.oid = t.attrelid cross join lateral aclexplode(t.attacl) a
    where a.grantee in ('svc_runtime'::regrole, 0) and c.relnamespace::regnamespace::text in ('public', 'mock_bank', 'idp', 'obie')
    group by 1, 2
  `)
  t.ok(columns.every(({ right }) => right === 'UPDATE'))
  t.same(Object.fromEntries(columns.map((each) => [each.name, each.columns])), COLUMN_GRANTS)
})

t.test(
  "functions that act with the owner's rights are few, pin their search path, and are callable by the service's role alone",
  async (t) => {
    const definers = await all<{
      name: string
      config: string[] | null
      runtime: boolean
      everyone: boolean
      trigger: boolean
    }>(`
    select p.proname as name, p.proconfig as config, has_function_privilege('svc_runtime', p.oid, 'execute') as runtime,
      exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0) as everyone, p.prorettype = 'trigger'::regtype as trigger
    from pg_proc p where p.pronamespace in ('public'::regnamespace, 'mock_bank'::regnamespace, 'idp'::regnamespace, 'obie'::regnamespace) and p.prosecdef
  `)
    t.same(definers.map(({ name }) => name).toSorted(), Object.keys(DEFINERS).toSorted())
    for (const { name, config, runtime, everyone, trigger } of definers) {
      t.same(config, ['search_path=public, pg_temp', ...(PLANNER_SETTINGS[name] ?? [])], name)
      t.equal(trigger, DEFINERS[name] === 'trigger', name)
      // Only a trigger can call a trigger's function.
      if (!trigger) t.same({ runtime, everyone }, { runtime: true, everyone: false }, name)
    }
  },
)

t.test(
  "no table of the mock bank or the identity provider refers to the service's tables, nor the reverse",
  async (t) => {
    t.same(
      await all(`
    select conname from pg_constraint k join pg_class a on a.oid = k.conrelid join pg_class b on b.oid = k.confrelid
    where k.contype = 'f' and a.relnamespace <> b.relnamespace
  `),
      [],
    )
  },
)
