import { setTimeout as delay } from 'node:timers/promises'
import { putWebhookEndpoint } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { ActingMerchant, CaseRun } from './case-run.ts'
import { StepFailure } from '../failure.ts'
import type { CaseSetup } from '../language.ts'
import { withBranches } from './last-exchange.ts'
import { makeMerchant } from './make-merchant.ts'
import { startReceiver } from './receiver.ts'
import type { Receipt } from './receiver.ts'
import { setFaults } from '../verbs/bank.ts'
import { behaviourOf } from '../verbs/webhooks.ts'
import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'

/** What a case has before its first step; nothing is made yet. */
export function prepareStage(
  client: Client,
  limits: Pick<CaseRun, 'deadline' | 'signal' | 'exec' | 'newKey' | 'isSeeded'>,
): CaseRun {
  const run: CaseRun = {
    client: { ...client, signal: limits.signal, onExchange: (exchange) => void (run.lastExchange = exchange) },
    merchant: {
      merchant_id: '',
      client_id: '',
      name: '',
      realm: '',
      clientSecret: undefined,
      secret: '',
      previousSecret: undefined,
    },
    receiver: undefined,
    captures: new Map(),
    made: [],
    lastExchange: undefined,
    ...limits,
  }
  return withBranches(run)
}

export async function setStage(run: CaseRun, given: CaseSetup): Promise<void> {
  if (given.receiver !== false) run.receiver = await startReceiver(behaviourOf(given.receiver ?? {}))
  const { acting } = await makeMerchant(run, given.merchant ?? {}, run.receiver)
  run.merchant = acting.merchant
  run.client = acting.client
  if (given.bank !== undefined) await setFaults(run, given.bank)
}

/** Every signature is checked, whether or not a step asks for it. */
export function refuseForged(run: CaseRun): void {
  for (const acting of [run, ...actingMerchants(run)]) {
    const forged = acting.receiver?.receipts.find((receipt) => receipt.signature !== 'valid')
    if (forged === undefined) continue
    const what =
      forged.signature === 'missing' ? 'without a signature' : "with a signature that is not of this merchant's secret"
    throw new StepFailure(`the receiver was sent ${forged.eventType} ${what}`, { hint: forgedHint(acting, forged) })
  }
}

/** A receiver may be behind a rotation: the scenario has said so, or has not given it the newest secret. */
function forgedHint({ merchant, receiver }: ActingMerchant, { signature }: Receipt): string {
  const isBehind = merchant.previousSecret !== undefined && receiver?.trusts(merchant.secret) === false
  return signature === 'wrong' && isBehind
    ? 'this receiver checks with the secret of before, which signs only while its overlap runs: receiver: { secret: newest } after secret.rotate (and no receiver: { secret: previous }), or secret.rotate: { overlap: 1h }'
    : 'the webhook does not belong to this case; a real receiver must answer 401'
}

/** How long what follows a case's end may take: it is a courtesy, and the case's result is known. */
export const GOODBYE_MS = 2_000

/** The receivers' ports will be used by others: what is still to be sent must not go there. */
export async function clearStage(run: CaseRun): Promise<void> {
  await Promise.all([run, ...actingMerchants(run)].map((acting) => sayGoodbye(run, acting)))
}

async function sayGoodbye(run: CaseRun, { client, merchant, receiver }: ActingMerchant): Promise<void> {
  if (receiver === undefined) return
  if (merchant.client_id !== '') {
    const { credentials } = client
    const last = { ...run.client, credentials, signal: undefined, timeoutMs: GOODBYE_MS }
    const goodbye = call(last, putWebhookEndpoint, { body: { webhook_url: null } }).then(
      () => undefined,
      () => undefined,
    )
    await Promise.race([goodbye, delay(GOODBYE_MS, undefined, { ref: false })])
  }
  await receiver.close()
}

function actingMerchants({ made }: CaseRun): ActingMerchant[] {
  return made.filter((each) => each.kind === 'merchant')
}

type Need = NonNullable<CaseSetup['needs']>

/** What a scenario may need of the service that not every one has, and the message where it is missing. */
const NEEDS: Readonly<Record<Need, { isMet: (service: ServiceInfo) => boolean; why: string }>> = {
  vrp_caps: {
    isMet: ({ vrp_caps }) => vrp_caps === 'enforce',
    why: 'this service does not hold mandates to their caps: SVC_VRP_CAPS=enforce, or --ephemeral',
  },
}

/** Why the case can't be played on this service, by what it reports of itself; undefined where it can. */
export async function unmetNeed(client: Client, { needs }: CaseSetup): Promise<string | undefined> {
  if (needs === undefined) return undefined
  const { isMet, why } = NEEDS[needs]
  const { body } = await call(client, getService, {})
  return isMet(body) ? undefined : why
}
