import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AdminMerchant, KybStatus, getMerchant } from '../../../src/wire/admin.ts'
import { OperatorAction, listAudit } from '../../../src/wire/audit.ts'
import { BankAccount, addBankAccount, disableBankAccount } from '../../../src/wire/bank-accounts.ts'
import { RegisteredMerchant, registerMerchant } from '../../../src/wire/registration.ts'
import type { RegisterMerchant } from '../../../src/wire/registration.ts'
import { SandboxMerchant } from '../../../src/wire/sandbox.ts'
import { Branding, BrandingFont, CheckoutOrigins, putBranding, putCheckoutOrigins } from '../../../src/wire/settings.ts'
import { CliError } from '../../base/errors.ts'
import { call } from '../../client/call.ts'
import { refuseDifferences, refuseUnlike } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Name, Ref, Text, expectedOf, matchersOf, made } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { madeOf, merchantOf } from '../play/case-run.ts'
import type { ActingMerchant, CaseRun } from '../play/case-run.ts'
import { actingAs, makeMerchant } from '../play/make-merchant.ts'
import { startReceiver } from '../play/receiver.ts'
import { form, sends, verb, comparison } from './verb.ts'
import type { Subject } from './verb.ts'
import { ReceiverBehaviour, behaviourOf } from './webhooks.ts'

/** How a merchant is made; approved, with the documented fees, where nothing is said. */
export const merchantFields = {
  name: Text.optional(),
  kyb: KybStatus.optional(),
  payout_held: z.boolean().optional(),
  fee_percentage: Text.optional(),
  fee_flat: Text.optional(),
}

/** The case's own merchant as well. */
export const MERCHANT = { kind: 'merchant', members: ['merchant_id', 'client_id', 'name'] } as const

/** Another merchant of the case: `acting_as: $other` beside a verb plays it as this one. */
const merchant = verb({
  schema: z.strictObject({
    as: Name,
    ...merchantFields,
    /** A receiver of its own; none where nothing is said. */
    receiver: ReceiverBehaviour.optional(),
    expect: expectedOf(SandboxMerchant.omit({ client_secret: true, webhook_signing_secret: true })),
  }),
  text: 'Creates another merchant, with a receiver of its own where asked for.',
  examples: ['merchant: { as: other, name: Other Ltd }', 'merchant: { as: other, name: Other Ltd, receiver: {} }'],
  makes: MERCHANT,
  async play(run, { as, receiver: behaviour, expect, ...fields }) {
    const receiver = behaviour === undefined ? undefined : await startReceiver(behaviourOf(behaviour))
    const { acting, body } = await makeMerchant(run, fields, receiver).catch(async (error: unknown) => {
      await receiver?.close()
      throw error
    })
    remember(run, as, acting)
    refuseUnlike('the merchant', { status: 201, body: withoutSecrets(body) }, { usual: 201, expected: expect })
  },
})

/** A merchant that registers itself, as anyone may; PENDING until `kyb.approve: { of: $new }`. */
const register = verb({
  schema: z.strictObject({
    as: Name.optional(),
    /** One that is not taken, where nothing is said. */
    company_name: Text.optional(),
    trading_name: Text.optional(),
    admin_email: Text.optional(),
    expect: expectedOf(RegisteredMerchant.omit({ client_secret: true, webhook_signing_secret: true })),
  }),
  text: 'Registers a merchant over the public API; its KYB status is PENDING.',
  examples: ['register: { as: new, company_name: New Ltd }'],
  makes: MERCHANT,
  async play(run, { as, expect, ...said }, given) {
    let sent = registration(said, run.newKey('register', given))
    const { status, body } = await call(run.client, registerMerchant, { body: sent }).catch((error: unknown) => {
      // With a seed the name is the same each time; in a service that has lived longer the last run has taken it.
      const isTaken = error instanceof CliError && error.code === 'REALM_EXISTS'
      if (said.company_name !== undefined || !isTaken) throw error
      sent = registration(said, randomUUID())
      return call(run.client, registerMerchant, { body: sent })
    })
    // Its answer holds secrets, which no report may show.
    run.lastExchange = undefined
    remember(run, as, actingAs(run, { ...body, name: sent.trading_name }))
    refuseUnlike('the registered merchant', { status, body: withoutSecrets(body) }, { usual: 201, expected: expect })
  },
})

function withoutSecrets(body: SandboxMerchant | RegisteredMerchant): object {
  const { client_secret: _secret, webhook_signing_secret: _signing, ...shown } = body
  return shown
}

type Said = { [Field in keyof RegisterMerchant]?: RegisterMerchant[Field] | undefined }

/** The realm is named from the company, and each is there once. */
function registration({ company_name, trading_name, admin_email }: Said, key: string): RegisterMerchant {
  const unique = key.slice(0, 8)
  const company = company_name ?? `Scenario ${unique} Ltd`
  return {
    company_name: company,
    trading_name: trading_name ?? company,
    admin_email: admin_email ?? `admin-${unique}@scenario.example`,
  }
}

function remember(run: CaseRun, name: string | undefined, acting: ActingMerchant): void {
  run.made.push({ kind: 'merchant', name: name ?? '', ...acting })
  const { merchant_id, client_id, name: shownName } = acting.merchant
  if (name !== undefined) run.captures.set(name, { merchant_id, client_id, name: shownName })
}

/** The look of the merchant's checkout; what is left out has its default. */
const branding = verb({
  schema: z.strictObject({
    colors: z.strictObject({ primary: Text.optional(), background: Text.optional(), text: Text.optional() }).optional(),
    logo_url: Text.nullable().optional(),
    font: BrandingFont.optional(),
    expect: expectedOf(Branding),
  }),
  text: 'Sets the look of the checkout.',
  examples: ['branding: { colors: { primary: "#0B5FFF" } }'],
  play: sends({
    operation: putBranding,
    what: 'the look',
    request: (_run, { expect: _expect, ...body }) => ({ body }),
  }),
})

const origins = verb({
  schema: z.strictObject({ allowed: z.array(Text).max(50), expect: expectedOf(CheckoutOrigins) }),
  text: 'Sets the pages that may embed the checkout.',
  examples: ['origins: { allowed: ["https://shop.example"] }'],
  play: sends({
    operation: putCheckoutOrigins,
    what: 'the origins',
    request: (_run, { allowed }) => ({ body: { origins: allowed } }),
  }),
})

const AddAccount = z.strictObject({
  as: Name.optional(),
  account_holder_name: Text.optional(),
  sort_code: Text,
  account_number: Text,
  iban: Text.optional(),
  expect: expectedOf(BankAccount),
})
const addAccount = sends<z.output<typeof AddAccount>, typeof addBankAccount>({
  operation: addBankAccount,
  what: 'the bank account',
  request: (run, { as: _as, expect: _expect, account_holder_name = run.merchant.name, ...said }) => ({
    body: { account_holder_name, ...said },
  }),
  made: (_run, { id }) => ({ kind: 'bank account', id }),
})
const DisableAccount = z.strictObject({ disable: Ref.bankAccount, expect: expectedOf(BankAccount) })
const disableAccount = sends<z.output<typeof DisableAccount>, typeof disableBankAccount>({
  operation: disableBankAccount,
  what: 'the bank account',
  request: (run, { disable }) => ({ params: { id: madeOf(run, 'bank account', disable).id } }),
})

export const MERCHANT_VERBS = {
  merchant,
  register,
  branding,
  origins,
  bank_account: verb({
    schema: z.union([AddAccount, DisableAccount]),
    text: 'Adds or disables a payout account.',
    examples: [
      'bank_account: { as: b1, sort_code: "12-34-56", account_number: "12345678" }',
      'bank_account: { disable: $b1 }',
    ],
    makes: made('bank account', BankAccount),
    play: (run, input, given) =>
      'disable' in input ? disableAccount(run, input, given) : addAccount(run, input, given),
  }),
}

function idOf(run: CaseRun, reference: string | undefined): string {
  return merchantOf(run, reference).merchant.merchant_id
}

export const AS_OPERATORS_SEE_IT = {
  subject: 'A merchant as operators see it',
  awaits: [],
  expects: [
    comparison({
      schema: z.strictObject({ ...matchersOf(AdminMerchant), merchant: Ref.merchant }),
      examples: ['expect: { merchant: $other, payout_held: true }'],
      what: (input) => input.merchant,
      now: async (run, input) =>
        (await call(run.client, getMerchant, { params: { id: idOf(run, input.merchant) } })).body,
      beside: ['merchant'],
    }),
  ],
} as const satisfies Subject

/** Entries about other merchants and other actions do not count here. */
export const AUDIT = {
  subject: 'The newest entry of an action in the audit trail',
  awaits: [],
  expects: [
    form({
      schema: z.strictObject({
        ...matchersOf(OperatorAction.omit({ action: true })),
        audit: Text,
        merchant: Ref.merchant.optional(),
      }),
      examples: ['expect: { audit: merchant.hold }'],
      async play(run, { audit: action, merchant: reference, ...expected }) {
        const query = { action, merchant_id: idOf(run, reference), limit: 1 }
        const [entry] = (await call(run.client, listAudit, { query })).body.data
        if (entry === undefined)
          throw new StepFailure(`the audit trail has no ${action} about ${reference ?? '$merchant'}`, {
            at: ['audit'],
            hint: 'The actions that there are: svc audit list --help',
          })
        refuseDifferences(`the newest ${action}`, differencesOf(expected, entry))
      },
    }),
  ],
} as const satisfies Subject
