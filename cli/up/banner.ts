import { relative } from 'node:path'
import type { Context } from '../context.ts'
import { serviceFile } from '../service-state.ts'
import type { ServiceState } from '../service-state.ts'

/** Says that everything answers, and what to try: the whole state for programs, addresses and commands for people. */
export function printReady(context: Context, state: ServiceState, { isDetached }: { isDetached: boolean }): void {
  if (!context.print.isMachine) context.note(`\n${context.paint('green', 'Everything runs.')}\n`)
  context.print.record({
    item: state,
    id: String(state.pid),
    lines: [
      ['API', state.api_url],
      ['Demo shop', state.demo_url],
      ['API description', `${state.api_url}/openapi.json`],
      ['Database', withoutPassword(state.database_url)],
      ['State directory', state.state_dir],
      ['Merchant', `${state.merchant.client_id} (send it as X-Merchant-Client-Id)`],
      ['Webhook secret', `merchant.webhook_secret in ${serviceFile(state.state_dir)}`],
      ['Process', String(state.pid)],
    ],
  })
  if (!context.print.isMachine) for (const line of nextSteps(context, state, isDetached)) context.note(line)
}

function nextSteps({ io, paint }: Context, state: ServiceState, isDetached: boolean): string[] {
  // Another terminal does not have this one's environment.
  const isHere = relative(io.cwd, state.state_dir) === '.svc'
  const isDefault = isHere || (isDetached && (io.env['SVC_STATE_DIR'] ?? '') !== '')
  const elsewhere = isDefault ? '' : ` --state-dir ${state.state_dir}`
  return [
    '',
    isDetached ? 'To try:' : `To try, in another terminal${isHere ? ' in this directory' : ''}:`,
    `  svc payments create --amount 50.00 --currency GBP --approve --wait Settled${elsewhere}`,
    `  svc payments list${elsewhere}`,
    `  svc webhooks list${elsewhere}`,
    `  svc listen${elsewhere}`,
    'Or pay as a customer would: open the demo shop in a browser.',
    '',
    paint('dim', isDetached ? `To stop it: svc down${elsewhere}` : 'Ctrl+C stops everything.'),
  ]
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:****@')
}
