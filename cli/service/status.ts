import { z } from 'zod'
import { packageVersion } from '../../src/lib/package-root.ts'
import { ServiceInfo, getService } from '../../src/wire/service.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isSameService } from '../base/service-address.ts'
import { runningState } from '../client/find-service.ts'
import { command } from '../kit/command.ts'
import { warn } from '../kit/warn.ts'
import { jsonAt } from './probe.ts'

const Readiness = z.looseObject({
  status: z.string(),
  database: z.string().optional(),
  identity: z.string().optional(),
  webhooks: z.looseObject({ waiting: z.int(), due: z.int(), dead: z.int(), held: z.int().optional() }).optional(),
})
type Readiness = z.infer<typeof Readiness>

export const status = command({
  command: 'status',
  summary: 'Show whether the service is running',
  details: 'Exit code 8 if the service is not running.',
  examples: ['svc status', 'svc status -q api_url'],
  flags: {},
  async run(context) {
    const { print, stateDir, namedUrl } = context
    const here = runningState(stateDir)
    const named = namedUrl?.replace(/\/+$/, '')
    const isHere = named === undefined || (here !== undefined && isSameService(named, here.api_url))
    const url = isHere ? here?.api_url : named
    // A named service may be another than the one of the state directory.
    const state = isHere ? here : undefined
    const isLive = url !== undefined && (await jsonAt(`${url}/healthz`)) !== undefined
    const readiness = isLive ? Readiness.safeParse(await jsonAt(`${url}/readyz`)).data : undefined
    const service = isLive ? Service.safeParse(await jsonAt(`${url}${getService.path}`)).data : undefined
    const item = {
      running: isLive,
      ready: readiness?.status === 'ready',
      pid: state?.pid ?? null,
      api_url: url ?? null,
      mode: service?.mode ?? null,
      identity: service?.identity ?? null,
      auth_url: service?.auth_url ?? null,
      identity_provider: readiness?.identity ?? null,
      demo_url: state?.demo_url ?? null,
      state_dir: stateDir,
      version: packageVersion(),
      service_version: service?.version ?? null,
      database: readiness?.database ?? null,
      webhooks: readiness?.webhooks ?? null,
      alerts: alertsOf(readiness),
    }
    print.record(
      item,
      [
        ['Service', serviceText(item.running, state !== undefined, item.ready)],
        ['Process', item.pid?.toString() ?? ''],
        ['API', item.api_url ?? ''],
        ['Mode', item.mode ?? ''],
        ['Identity', identityText(service, readiness)],
        ['Demo shop', item.demo_url ?? ''],
        ['Database', item.database ?? ''],
        ['Webhooks', webhooksText(readiness)],
        ['State directory', item.state_dir],
        ['Version of svc', versionText(item.version, item.service_version)],
      ],
      { id: String(item.pid ?? item.api_url ?? '') },
    )
    for (const { message, next } of item.alerts) warn(context, message, next)
    // What has gone wrong comes first, and alone.
    if (item.mode === 'sandbox' && item.ready && item.alerts.length === 0 && !print.isMachine)
      context.note('Try: svc run happy-path\n     svc trigger --list\n     svc sandbox bank list')
    return isLive ? undefined : EXIT.network
  },
})

type Alert = { code: 'DELIVERIES_DEAD'; message: string; dead_deliveries: number; next: string }

/** What needs attention (contract §Delivery rules 5). */
function alertsOf(readiness: Readiness | undefined): Alert[] {
  const dead = readiness?.webhooks?.dead ?? 0
  if (dead === 0) return []
  const what = dead === 1 ? '1 webhook delivery is DEAD' : `${dead} webhook deliveries are DEAD`
  const next = 'svc webhooks list --all-merchants --status DEAD\nas the merchant: svc webhooks list --status DEAD'
  return [
    { code: 'DELIVERIES_DEAD', message: `${what}: nothing is tried again by itself`, dead_deliveries: dead, next },
  ]
}

/** A newer service may return more. */
const Service = z.looseObject(ServiceInfo.pick({ version: true, mode: true, identity: true, auth_url: true }).shape)

function versionText(ours: string, ofService: string | null): string {
  return ofService === null || ofService === ours ? ours : `${ours}; the service is ${ofService}`
}

function identityText(service: z.infer<typeof Service> | undefined, readiness: Readiness | undefined): string {
  if (service === undefined) return ''
  if (service.auth_url === null) return 'none: headers say who calls'
  const away = readiness?.identity === 'away' ? ', away: sign-in does not work' : ''
  return `${service.identity}, realms at ${service.auth_url}/realms/<realm>${away}`
}

function serviceText(isLive: boolean, hasProcess: boolean, isReady: boolean): string {
  if (isLive) return isReady ? 'running' : 'running, but not ready'
  return hasProcess ? 'the process runs, but does not answer' : 'not running'
}

function webhooksText(readiness: Readiness | undefined): string {
  const counts = readiness?.webhooks
  if (counts === undefined) return ''
  const { waiting, due, dead, held = 0 } = counts
  return `${waiting} waiting, ${due} due, ${dead} dead${held === 0 ? '' : `, ${held} held: their endpoint is paused or not set`}`
}
