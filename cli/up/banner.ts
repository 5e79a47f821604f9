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
      ['Identity', identityText(state)],
      ['Database', withoutPassword(state.database_url)],
      ['State directory', state.state_dir],
      ...merchantLines(state),
      ...operatorLines(state),
      ['Process', String(state.pid)],
    ],
  })
  if (!context.print.isMachine) for (const line of nextSteps(context, state, isDetached)) context.note(line)
}

type Line = readonly [label: string, text: string]

function identityText({ auth_url: authUrl }: ServiceState): string {
  return authUrl === null ? 'none: headers say who calls' : `${authUrl}/realms/<realm>`
}

function merchantLines({ merchant, auth_url: authUrl, state_dir: stateDir }: ServiceState): Line[] {
  const webhookSecret: Line = ['Webhook secret', `merchant.webhook_secret in ${serviceFile(stateDir)}`]
  if (authUrl === null) return [['Merchant', `${merchant.client_id} (send it as X-Merchant-Client-Id)`], webhookSecret]
  return [
    ['Merchant', `realm ${merchant.realm}, client ${merchant.client_id}`],
    ['  signs in with', `${merchant.email ?? ''} and ${merchant.password ?? ''}`],
    ['  its server with', merchant.client_secret ?? ''],
    webhookSecret,
  ]
}

function operatorLines({ operator }: ServiceState): Line[] {
  if (operator === null) return []
  return [
    ['Operator', `realm ${operator.realm}, client ${operator.client_id}, ${operator.role}`],
    ['  signs in with', `${operator.email} and ${operator.password}`],
    ['  programs with', operator.client_secret],
  ]
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
    'A merchant of your own, made by anybody and approved by the demo operator:',
    `  svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example${elsewhere}`,
    `  svc kyb approve acme-ltd --reason "documents checked"${elsewhere}`,
    ...tokenSteps(state),
    '',
    paint('dim', isDetached ? `To stop it: svc down${elsewhere}` : 'Ctrl+C stops everything.'),
  ]
}

function tokenSteps({ auth_url: authUrl, merchant }: ServiceState): string[] {
  if (authUrl === null || merchant.client_secret === null) return []
  return [
    '',
    "A token of the demo merchant's server, for requests of your own:",
    `  curl -s ${authUrl}/realms/${merchant.realm}/protocol/openid-connect/token -d grant_type=client_credentials -u ${merchant.client_id}:${merchant.client_secret}`,
  ]
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:****@')
}
