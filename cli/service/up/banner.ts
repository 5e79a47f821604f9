import { relative } from 'node:path'
import { asTyped, quoted } from '../../base/command-hints.ts'
import type { Context } from '../../kit/context.ts'
import type { ServiceState } from '../../client/service-state.ts'

/**
 * Says that everything answers: the whole state for programs; for people what to try, then addresses, and last the
 * logins, so that a terminal of 80 by 24 still shows them.
 */
export function printReady(context: Context, state: ServiceState, { isDetached }: { isDetached: boolean }): void {
  const { io, print, paint } = context
  // Unlike a context's notes without the flags of this command: a line with a directory in it would be too long.
  const note = (text: string): void => io.stderr.write(`${asTyped(text, io.calledAs)}\n`)
  const elsewhere = stateDirLine(context, state, isDetached)
  if (!print.isMachine) {
    const where = isDetached ? '' : `, in another terminal${elsewhere === undefined ? ' in this directory' : ''}`
    note(`\n${paint('green', 'Everything runs.')} To try${where}:`)
    for (const line of nextSteps(state, elsewhere, io.calledAs)) note(line)
  }
  print.record({
    item: state,
    id: String(state.pid),
    lines: [
      ['API', `${state.api_url} (described at /openapi.json), process ${state.pid}`],
      ['Demo shop', state.demo_url],
      ['Checkout', `${state.api_url}/widget-demo.html`],
      ['Payer hub', `${state.api_url}/hub`],
      ['Tokens', tokenUrl(state) ?? 'none: headers say who calls'],
      ['Database', withoutPassword(state.database_url)],
      ['State', `${state.state_dir} (in svc.json: merchant.webhook_secret)`],
      ...merchantLines(state),
      ...operatorLines(state),
      ...customerLines(state),
    ],
  })
  if (!print.isMachine) note(paint('dim', isDetached ? 'To stop it: svc down' : 'Ctrl+C stops everything.'))
}

type Line = readonly [label: string, text: string]

function merchantLines({ merchant, auth_url: authUrl }: ServiceState): Line[] {
  if (authUrl === null) return [['Merchant', `${merchant.client_id} (send it as X-Merchant-Client-Id)`]]
  return [
    ['Server', `${merchant.client_id} and ${merchant.client_secret ?? ''}`],
    ['Merchant', `${merchant.email ?? ''} and ${merchant.password ?? ''}, realm ${merchant.realm}`],
  ]
}

/** The secret of the operator's programs stands in svc.json: who works at a terminal has no need of it. */
function operatorLines({ operator }: ServiceState): Line[] {
  if (operator === null) return []
  return [['Operator', `${operator.email} and ${operator.password}, realm ${operator.realm}`]]
}

/** The secret of the customer's programs stands in svc.json, as the operator's does. */
function customerLines({ customer, auth_url: authUrl }: ServiceState): Line[] {
  if (customer === null) return []
  if (authUrl === null) return [['Customer', `${customer.id} (send it as X-Customer-Id)`]]
  return [['Customer', `${customer.email ?? ''} and ${customer.password ?? ''}, realm ${customer.realm ?? ''}`]]
}

function nextSteps(state: ServiceState, elsewhere: string | undefined, called: string): string[] {
  return [
    ...(elsewhere === undefined ? [] : [elsewhere]),
    '  svc payments create --amount 50.00 --currency GBP --approve --wait',
    '  svc listen',
    ...(state.customer === null ? [] : ['  svc ob accounts']),
    ...(state.auth_url === null ? [] : ['  svc api /api/v1/whoami']),
    'A merchant of your own, made by anybody and approved by the demo operator:',
    '  svc register --company Acme --trading-name Acme --email ada@acme.example',
    '  svc kyb approve acme --reason "documents checked"',
    `The console: ${called}. Besides: svc inbox, svc doctor, svc listen`,
    '',
  ]
}

/** Another terminal does not have this one's environment; undefined where commands find the service by themselves. */
function stateDirLine({ io }: Context, { state_dir: stateDir }: ServiceState, isDetached: boolean): string | undefined {
  if (relative(io.cwd, stateDir) === '.svc') return undefined
  if (isDetached && (io.env['SVC_STATE_DIR'] ?? '') !== '') return undefined
  return `  export SVC_STATE_DIR=${quoted(stateDir)}`
}

function tokenUrl({ auth_url: authUrl, merchant }: ServiceState): string | undefined {
  return authUrl === null ? undefined : `${authUrl}/realms/${merchant.realm}/protocol/openid-connect/token`
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:****@')
}
