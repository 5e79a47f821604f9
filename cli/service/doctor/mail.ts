import { z } from 'zod'
import type { Config } from '../../../src/config/config.ts'
import { variableIn } from '../../base/environment-variables.ts'
import { finding, ok, skipped, runCheck, restartOr } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { Database } from './database-sql.ts'
import { MAILS } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'
import { takesConnections } from './port.ts'

/** Less than a check has, so that the server's own failure is told. */
const SMTP_TIMEOUT_MS = 2_500
const SMS_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

export async function checkMail(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  return Promise.all([
    runCheck('mail server', () => checkServer(target)),
    runCheck('text gateway', () => checkGateway(target)),
    runCheck('mail outbox', () => checkOutbox(target, database)),
  ])
}

/** Connects as for a mail, with TLS and login, and sends none. */
async function checkServer(target: DoctorTarget): Promise<Verdict> {
  const smtpUrl = variableOf(target, 'SVC_SMTP_URL')
  if (smtpUrl === undefined) return skipped(reasonMissing(target, 'SVC_SMTP_URL'))
  if (!URL.canParse(smtpUrl) || !/^smtps?:/.test(smtpUrl))
    return finding('SVC_SMTP_URL is no smtp:// or smtps:// address', SMTP_URL)
  const { failureOf, verifyTransport } = await import('../../../src/mail/transport.ts')
  const mode = modeOf(target)
  const { host, protocol, username } = new URL(smtpUrl)
  try {
    await verifyTransport({ mode }, smtpUrl, SMTP_TIMEOUT_MS)
    const login = username === '' ? 'without a login' : 'and takes the login'
    return ok(`${protocol}//${host} answers, ${login}; nothing was sent`)
  } catch (error) {
    return finding(`${protocol}//${host}: ${failureOf(error).replaceAll('_', ' ')}`, SMTP_URL)
  }
}

const SMTP_URL = 'export SVC_SMTP_URL=smtps://<user>:<password>@<host>'

/** What the environment says, of a service on this machine or of the one that it configures. */
function variableOf({ context, config }: DoctorTarget, name: 'SVC_SMTP_URL' | 'SVC_SMS_URL'): string | undefined {
  if (config !== undefined) return name === 'SVC_SMTP_URL' ? config.smtpUrl : config.sms?.url
  return variableIn(context.io.env, name)
}

function modeOf({ config, profile }: DoctorTarget): Config['mode'] {
  return config?.mode ?? profile?.settings.mode ?? 'sandbox'
}

function reasonMissing({ by }: DoctorTarget, name: keyof typeof KEPT): string {
  if (by === 'name') return `${name} is the service's own, and is not set here`
  return by === 'nothing' ? `${name} is not set` : `${name} is not set: the sandbox keeps ${KEPT[name]} for svc mail`
}

const KEPT = { SVC_SMTP_URL: 'mails', SVC_SMS_URL: 'text messages' } as const

/** Nothing is said to it, for whatever it is told is a message. */
async function checkGateway(target: DoctorTarget): Promise<Verdict> {
  const url = variableOf(target, 'SVC_SMS_URL')
  if (url === undefined) return skipped(reasonMissing(target, 'SVC_SMS_URL'))
  const { hostname, host, port, protocol } = new URL(url)
  const isThere = await takesConnections(
    hostname.replaceAll(/[[\]]/g, ''),
    port === '' ? (SMS_PORTS[protocol] ?? 443) : Number.parseInt(port, 10),
  )
  if (isThere) return ok(`${protocol}//${host} takes connections; nothing was sent`)
  return finding(`nothing listens at ${protocol}//${host}`, 'export SVC_SMS_URL=https://<host>/<path>')
}

const Mails = z.object({
  dead: z.int(),
  overdue: z.int(),
  failing: z.int(),
  last_error: z.string().nullable(),
})

async function checkOutbox(target: DoctorTarget, database: Database | undefined): Promise<Verdict> {
  if (database === undefined) return skipped('only its database tells what waits in it')
  const [row] = await database.rows(MAILS)
  const { dead, overdue, failing, last_error: last } = Mails.parse(row)
  const because = last === null ? '' : `; the last failure was: ${last.replaceAll('_', ' ')}`
  // Due and not tried: nobody sends them.
  if (overdue > 0)
    return finding(`${overdue} mails have been due for minutes${because}`, restartOr(target, 'svc worker'))
  if (failing > 0) return finding(`${failing} mails could not be sent yet${because}`, SMTP_URL)
  if (dead > 0) return finding(`${dead} mails were given up in the last week${because}`, 'svc merchants registrations')
  return ok('nothing waits in it')
}
