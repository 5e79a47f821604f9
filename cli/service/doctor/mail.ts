import { variableIn } from '../../base/environment-variables.ts'
import { finding, ok, skipped } from './check.ts'
import type { Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'

/** Less than a check has, so that the server's own failure is reported. */
const SMTP_TIMEOUT_MS = 2_500
export const SMTP_FIX = 'export SVC_SMTP_URL=smtps://<user>:<password>@<host>'

/** Connects as for a mail, with TLS and login, and sends none. */
export async function mailServerCheck({ config, profile, context }: DoctorTarget): Promise<Verdict> {
  const smtpUrl = config === undefined ? variableIn(context.io.env, 'SVC_SMTP_URL') : config.smtpUrl
  if (smtpUrl === undefined) return skipped('SVC_SMTP_URL is not set here')
  if (!URL.canParse(smtpUrl) || !/^smtps?:/.test(smtpUrl))
    return finding('SVC_SMTP_URL is not an smtp:// or smtps:// address', SMTP_FIX)
  const { failureOf, verifyTransport } = await import('../../../src/mail/transport.ts')
  const { host, protocol } = new URL(smtpUrl)
  try {
    const mode = config?.mode ?? profile?.settings.mode ?? 'sandbox'
    await verifyTransport({ mode }, smtpUrl, SMTP_TIMEOUT_MS)
    return ok(`${protocol}//${host} answers; nothing was sent`)
  } catch (error) {
    return finding(`${protocol}//${host}: ${failureOf(error).replaceAll('_', ' ')}`, SMTP_FIX)
  }
}
