import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'

/**
 * Whoever knows the demo operator's login may do everything: it has no place where real money moves. Said before anything
 * else is asked for, and again of the configuration as it was read.
 * @throws {CliError} LIVE_MODE, exit code 2
 */
export function refuseLive({ mode }: { mode: string | undefined }): void {
  if (mode !== 'live') return
  throw new CliError(
    'LIVE_MODE',
    'svc up brings a demo merchant, operator and customer, which live mode must not have',
    {
      exit: EXIT.usage,
      hint: 'svc migrate up\nsvc staff bootstrap\nthen, side by side: svc serve\nsvc worker',
    },
  )
}
