import type { Command } from 'commander'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { AnyAction } from '../kit/action.ts'
import { addAction } from '../kit/action-command.ts'
import type { Variant } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { CREATE, REVOKE, ROTATE } from './credential-actions.ts'
import { ListOptions, list } from './credential-list.ts'

/** `svc credentials`: the clients of programs, a merchant's own or the platform's. */
export function addCredentials(credentials: Command, runtime: Runtime): void {
  credentials
    .command('list')
    .description('List API clients')
    .option('--platform', CREATE.own.flags.platform.summary)
    .addHelpText(
      'after',
      '\nSecrets are not shown again.\n\nExamples:\n  svc credentials list\n  svc credentials list --platform\n',
    )
    .action(action(runtime, ListOptions, list))
  addAction(credentials, runtime, CREATE.own, bySide(CREATE))
  addAction(credentials, runtime, ROTATE)
  addAction(credentials, runtime, REVOKE.own, bySide(REVOKE))
}

/** The action of the side that the command means. */
function bySide({ own, ofPlatform }: { own: AnyAction; ofPlatform: AnyAction }): Variant {
  return {
    choose: async (context, { platform }) =>
      (await meansAllMerchants(context.client(), platform === true)) ? ofPlatform : own,
  }
}
