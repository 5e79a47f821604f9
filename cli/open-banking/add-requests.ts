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
    summary: 'Request payments, and answer requests',
    one: 'a request to pay',
    many: 'requests to pay',
    actions: REQUEST_ACTIONS,
  })
  add(ob, runtime, {
    kind: OFFERS,
    summary: 'Offer payments, and answer offers',
    one: 'an offer to pay',
    many: 'offers to pay',
    actions: OFFER_ACTIONS,
  })
}

type Group<R extends Row> = {
  kind: RequestKind<R>
  summary: string
  /** Who may look at one. */
  one: string
  many: string
  actions: readonly AnyAction[]
}

function add<R extends Row>(ob: Command, runtime: Runtime, { kind, summary, one, many, actions }: Group<R>): void {
  const words = `svc ob ${kind.words}`
  const group = ob.command(kind.words).helpCommand(false).description(summary)
  group.addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} accept a2b4358c --wait\n`)
  const { list, show } = requestReads(kind)
  obPaged(group.command('list').description(`List ${many}, newest first`))
    .addHelpText('after', `\nExamples:\n  ${words} list\n  ${words} list --all -o csv\n`)
    .action(action(runtime, ObPaging, list))
  group
    .command('show')
    .description(`Show ${one}`)
    .argument(kind === REQUESTS ? '<request>' : '<offer>', 'Its id, or its last 8 characters')
    .addHelpText('after', `\nExamples:\n  ${words} show a2b4358c\n`)
    .action(action(runtime, z.object({}), show))
  addActions(ob, runtime, actions)
}
