import { z } from 'zod'
import { outcomeText } from '../../../src/lib/outcome-text.ts'
import { getService } from '../../../src/wire/service.ts'
import { checkWebhookEndpoint, getWebhookEndpoint, listOutbox } from '../../../src/wire/webhooks.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { finding, ok, remark, skipped } from './check.ts'
import type { Check } from './check.ts'
import type { Database } from './database-connection.ts'
import { DEAD_BY_MERCHANT } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'
import { runCheck } from './timed.ts'

/** What is looked at over HTTP: the newest of them. */
const DEAD_LOOKED_AT = 100

export async function checkWebhooks(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  const dead = deadByMerchant(target, database)
  dead.catch(() => undefined)
  return Promise.all([
    runCheck('dead deliveries', async () => deadCheck(await dead, await isSandbox(target))),
    runCheck('endpoints', async () => goneCheck(await dead, database !== undefined)),
    runCheck('your endpoint', () => checkOwn(target)),
  ])
}

const DeadDeliveries = z.object({ merchant: z.string(), dead: z.int(), sends: z.boolean(), gone: z.boolean() })
type DeadDeliveries = z.infer<typeof DeadDeliveries>

/** By how many they are: as the database says, else as an operator may see it. */
async function deadByMerchant(
  { client, url }: DoctorTarget,
  database: Database | undefined,
): Promise<DeadDeliveries[]> {
  if (database !== undefined) return z.array(DeadDeliveries).parse(await database.rows(DEAD_BY_MERCHANT))
  if (url === undefined) throw new Error('there is no service to ask')
  const query = { status: 'DEAD' as const, limit: DEAD_LOOKED_AT }
  const { body } = await call(client(), listOutbox, { query })
  const byMerchant = Map.groupBy(body.data, (each) => each.realm_slug ?? each.merchant_id)
  return [...byMerchant]
    .map(([merchant, rows]) => ({ merchant, dead: rows.length, sends: true, gone: isGone(rows) }))
    .toSorted((a, b) => b.dead - a.dead)
}

/** The newest comes first. */
function isGone([newest]: readonly { last_http_status: number | null }[]): boolean {
  return newest?.last_http_status === 410
}

/** As its service says, or the environment that configures one. */
async function isSandbox({ context, config, url, by }: DoctorTarget): Promise<boolean> {
  if (by === 'environment' || url === undefined) return config?.mode === 'sandbox'
  const open = { ...context.http(), apiUrl: url, credentials: noCredentials(), close: () => Promise.resolve() }
  return (await call(open, getService, {})).body.mode === 'sandbox'
}

/**
 * Those that go out again when they are asked to. In a sandbox nobody waits for them: receivers come and go there, and
 * the shops of a seed have some that never answer.
 */
function deadCheck(all: readonly DeadDeliveries[], inSandbox: boolean): Check {
  const check = 'dead deliveries'
  const [worst] = all.filter(({ sends, gone }) => sends && !gone)
  if (worst === undefined)
    return ok(check, all.length === 0 ? 'there are none' : 'those that there are have no endpoint to go to')
  const sum = all.reduce((total, { dead }) => total + dead, 0)
  const more = all.length === 1 ? '' : `, of ${sum} in all of ${all.length} merchants`
  const told = inSandbox ? remark : finding
  return told(
    check,
    `${worst.dead} of ${worst.merchant}${more}: nothing is tried again by itself`,
    `svc webhooks replay --status DEAD --merchant ${worst.merchant}`,
  )
}

function goneCheck(all: readonly DeadDeliveries[], isWhole: boolean): Check {
  const gone = all.filter((each) => each.gone)
  const [first] = gone
  if (first === undefined) return ok('endpoints', isWhole ? 'none has gone' : 'none of those that were asked has gone')
  const more = gone.length === 1 ? '' : `, and ${gone.length - 1} more`
  return finding(
    'endpoints',
    `the endpoint of ${first.merchant} has answered 410, that it is gone${more}: its merchant has to set another`,
    `svc merchants show ${first.merchant}`,
  )
}

/** The signed-in merchant's: its server is asked whether it is there, and gets no event. */
async function checkOwn(target: DoctorTarget): Promise<Check> {
  const check = 'your endpoint'
  const client = target.client()
  if (client.credentials.merchant === undefined) return skipped(check, 'commands act for no merchant')
  const { body: endpoint } = await call(client, getWebhookEndpoint, {})
  if (endpoint.webhook_url === null) return ok(check, 'none is set: events wait, and can be read with svc listen')
  if (endpoint.gone)
    return finding(
      check,
      `${endpoint.webhook_url} has answered 410, that it is gone`,
      'svc webhooks endpoint set <url>',
    )
  return (await answerCheck(client, endpoint.webhook_url)) ?? alertCheck(endpoint.alert?.dead_deliveries ?? 0)
}

async function answerCheck(client: Client, webhookUrl: string): Promise<Check | undefined> {
  const { body } = await call(client, checkWebhookEndpoint, {})
  if (body.reachable) return undefined
  return finding(
    'your endpoint',
    `${webhookUrl} does not answer: ${outcomeText(body.outcome)}`,
    'svc webhooks endpoint set <url>',
  )
}

function alertCheck(dead: number): Check {
  if (dead === 0) return ok('your endpoint', 'its server answers')
  return finding(
    'your endpoint',
    `its server answers, and ${dead} deliveries are DEAD`,
    'svc webhooks replay --status DEAD',
  )
}
