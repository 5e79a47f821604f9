import { randomUUID } from 'node:crypto'
import { registerMerchant } from '../../../src/wire/registration.ts'
import type { RegisterMerchant } from '../../../src/wire/registration.ts'
import { call } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { readInput } from '../play/case-run.ts'
import type { ActingMerchant, CaseRun } from '../play/case-run.ts'
import { MerchantStep, Register } from '../language/merchant.ts'
import { actingAs, makeMerchant } from '../play/make-merchant.ts'
import { startReceiver } from '../play/receiver.ts'
import { behaviourOf } from './webhooks.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** Makes another merchant of the case, with credentials of its own. */
export async function merchant(run: CaseRun, given: unknown): Promise<void> {
  const { as, receiver: behaviour, expect, ...wish } = readInput(run, MerchantStep, given)
  const receiver = behaviour === undefined ? undefined : await startReceiver(behaviourOf(behaviour))
  const { acting, body } = await makeMerchant(run, wish, receiver).catch(async (error: unknown) => {
    await receiver?.close()
    throw error
  })
  remember(run, as, acting)
  const { client_secret: _secret, webhook_signing_secret: _signing, ...shown } = body
  refuseUnlike('the merchant', { status: 201, body: shown }, { usual: 201, expected: expect })
}

/** Registers a merchant, as anyone may. */
export async function register(run: CaseRun, given: unknown): Promise<void> {
  const { as, expect, ...said } = readInput(run, Register, given)
  let sent = bodyOf(said, run.newKey('register', given))
  const { status, body } = await call(run.client, registerMerchant, { body: sent }).catch((error: unknown) => {
    // With a seed the name is the same each time; in a service that has lived longer the last run has taken it.
    if (said.company_name !== undefined || !isTaken(error)) throw error
    sent = bodyOf(said, randomUUID())
    return call(run.client, registerMerchant, { body: sent })
  })
  // Its answer holds secrets, which no report may show.
  run.lastExchange = undefined
  const { client_secret: _secret, webhook_signing_secret: _signing, ...shown } = body
  remember(run, as, actingAs(run, { ...body, name: sent.trading_name }))
  refuseUnlike('the registered merchant', { status, body: shown }, { usual: 201, expected: expect })
}

type Said = { [Field in keyof RegisterMerchant]?: RegisterMerchant[Field] | undefined }

/** The realm is named from the company, and each is there once. */
function bodyOf({ company_name, trading_name, admin_email }: Said, key: string): RegisterMerchant {
  const unique = key.slice(0, 8)
  const company = company_name ?? `Scenario ${unique} Ltd`
  return {
    company_name: company,
    trading_name: trading_name ?? company,
    admin_email: admin_email ?? `admin-${unique}@scenario.example`,
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof CliError && error.code === 'REALM_EXISTS'
}

function remember(run: CaseRun, name: string | undefined, acting: ActingMerchant): void {
  run.made.push({ kind: 'merchant', name: name ?? '', ...acting })
  const { merchant_id, client_id, name: told } = acting.merchant
  if (name !== undefined) run.captures.set(name, { merchant_id, client_id, name: told })
}
