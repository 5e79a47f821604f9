import { z } from 'zod'
import { outcomeText } from '../../../src/lib/outcome-text.ts'
import { checkWebhookEndpoint, getWebhookEndpoint, listOutbox } from '../../../src/wire/webhooks.ts'
import { discover } from '../../client/auth/service-info.ts'
import { call } from '../../client/call.ts'
import { finding, ok, remark, skipped, runCheck } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { Database } from './database-sql.ts'
import { DEAD_BY_MERCHANT } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'

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
  return (await discover(context.http(), url)).mode === 'sandbox'
}

/**
 * Those that go out again when they are asked to. In a sandbox nobody waits for them: receivers come and go there, and
 * the shops of a seed have some that never answer.
 */
function deadCheck(all: readonly DeadDeliveries[], inSandbox: boolean): Verdict {
  const [worst] = all.filter(({ sends, gone }) => sends && !gone)
  if (worst === undefined)
    return ok(all.length === 0 ? 'there are none' : 'those that there are have no endpoint to go to')
  const sum = all.reduce((total, { dead }) => total + dead, 0)
  const more = all.length === 1 ? '' : `, of ${sum} in all of ${all.length} merchants`
  const told = inSandbox ? remark : finding
  return told(
    `${worst.dead} of ${worst.merchant}${more}: nothing is tried again by itself`,
    `svc webhooks replay --status DEAD --merchant ${worst.merchant}`,
  )
}

function goneCheck(all: readonly DeadDeliveries[], isWhole: boolean): Verdict {
  const gone = all.filter((each) => each.gone)
  const [first] = gone
  if (first === undefined) return ok(isWhole ? 'none has gone' : 'none of those that were asked has gone')
  const more = gone.length === 1 ? '' : `, and ${gone.length - 1} more`
  return finding(
    `the endpoint of ${first.merchant} has answered 410, that it is gone${more}: its merchant has to set another`,
    `svc merchants show ${first.merchant}`,
  )
}

/** The signed-in merchant's: its server is asked whether it is there, and gets no event. */
async function checkOwn(target: DoctorTarget): Promise<Verdict> {
  const client = target.client()
  if (client.credentials.merchant === undefined) return skipped('commands act for no merchant')
  const { body: endpoint } = await call(client, getWebhookEndpoint, {})
  if (endpoint.webhook_url === null) return ok('none is set: events wait, and can be read with svc listen')
  if (endpoint.gone)
    return finding(`${endpoint.webhook_url} has answered 410, that it is gone`, 'svc webhooks endpoint set <url>')
  const { body } = await call(client, checkWebhookEndpoint, {})
  if (!body.reachable)
    return finding(
      `${endpoint.webhook_url} does not answer: ${outcomeText(body.outcome)}`,
      'svc webhooks endpoint set <url>',
    )
  const dead = endpoint.alert?.dead_deliveries ?? 0
  if (dead === 0) return ok('its server answers')
  return finding(`its server answers, and ${dead} deliveries are DEAD`, 'svc webhooks replay --status DEAD')
}
