import type { Command } from 'commander'
import { z } from 'zod'
import type { AnyAction } from '../kit/action.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { ObPaging, obPaged } from './pages.ts'
import { OFFER_ACTIONS, REQUEST_ACTIONS } from './request-actions.ts'
import { requestReads } from './request-reads.ts'
import type { Row } from './request-reads.ts'
import { OFFERS, REQUESTS } from './requests.ts'
import type { RequestKind } from './requests.ts'

/** `svc ob request-to-pay` and `svc ob offer-to-pay`. */
export function addRequests(ob: Command, runtime: Runtime): void {
  add(ob, runtime, {
    kind: REQUESTS,
    summary: 'ask somebody for money; pay or reject what others ask for',
    whose: 'as who made it or who was asked',
    actions: REQUEST_ACTIONS,
  })
  add(ob, runtime, {
    kind: OFFERS,
    summary: 'offer somebody money; take or reject what others offer',
    whose: 'as who made it or whom it is for',
    actions: OFFER_ACTIONS,
  })
}

type Group<R extends Row> = {
  kind: RequestKind<R>
  summary: string
  /** Who may look at one. */
  whose: string
  actions: readonly AnyAction[]
}

function add<R extends Row>(ob: Command, runtime: Runtime, { kind, summary, whose, actions }: Group<R>): void {
  const words = `svc ob ${kind.words}`
  const group = ob.command(kind.words).helpCommand(false).description(summary)
  group.addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} accept a2b4358c --wait\n`)
  const { list, show } = requestReads(kind)
  obPaged(group.command('list').description('list them, made and received, the newest first'))
    .addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} list --all -o csv\n`)
    .action(action(runtime, ObPaging, list))
  group
    .command('show')
    .description(`show one, ${whose}`)
    .argument(kind === REQUESTS ? '<request>' : '<offer>', 'its id, or the last 8 characters of it')
    .addHelpText('after', `\nExamples:\n  ${words} show a2b4358c\n`)
    .action(action(runtime, z.object({}), show))
  addActions(ob, runtime, actions)
}
