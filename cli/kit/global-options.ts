import { usageError } from '../base/errors.ts'
import { COLOR_FLAGS } from '../base/io.ts'
import type { ColorFlag } from '../base/io.ts'
import { OUTPUT_MODES } from '../base/output-modes.ts'
import type { OutputMode } from '../base/output-modes.ts'
import { NO_CREDENTIALS, holdsCredentials } from '../base/service-address.ts'

export type GlobalOptions = {
  apiUrl?: string | undefined
  clientId?: string | undefined
  customer?: string | undefined
  profile?: string | undefined
  stateDir?: string | undefined
  output?: OutputMode | undefined
  /** True, or the members to keep. */
  json?: true | string | undefined
  query?: string | undefined
  header: boolean
  color: ColorFlag
}

/**
 * Reads them from what commander has taken, which are texts and switches, without a schema: that is loaded by what has
 * options of its own.
 * @throws {CliError} exit code 2 for an address with credentials in it
 */
export function readGlobalOptions(given: object): GlobalOptions {
  const value = (name: string): unknown => Reflect.get(given, name)
  const text = (name: string): string | undefined => {
    const found = value(name)
    return typeof found === 'string' ? found : undefined
  }
  const apiUrl = text('apiUrl')
  if (apiUrl !== undefined && holdsCredentials(apiUrl)) throw usageError(`--api-url: ${NO_CREDENTIALS}`)
  return {
    apiUrl,
    clientId: text('clientId'),
    customer: text('customer'),
    profile: text('profile'),
    stateDir: text('stateDir'),
    output: OUTPUT_MODES.find((mode) => mode === value('output')),
    json: value('json') === true ? true : text('json'),
    query: text('query'),
    header: value('header') !== false,
    color: COLOR_FLAGS.find((flag) => flag === value('color')) ?? 'auto',
  }
}

/** The form of results where no flag says it. */
export function modeOfEnvironment(env: NodeJS.ProcessEnv): OutputMode {
  const text = env['SVC_OUTPUT'] || 'table'
  const mode = OUTPUT_MODES.find((known) => known === text)
  if (mode === undefined)
    throw usageError(
      `SVC_OUTPUT: "${text}" is none of ${OUTPUT_MODES.join(', ')}`,
      'where it comes from: svc config show --set -o table\nSVC_OUTPUT=table, or unset SVC_OUTPUT',
    )
  return mode
}

/** @throws {CliError} exit code 2 for a variable that says nothing that is known of */
export function checkColorOfEnvironment(env: NodeJS.ProcessEnv): void {
  const text = env['SVC_COLOR'] ?? ''
  if (text === '' || COLOR_FLAGS.some((known) => known === text)) return
  throw usageError(`SVC_COLOR: "${text}" is none of ${COLOR_FLAGS.join(', ')}`, 'SVC_COLOR=auto, or unset SVC_COLOR')
}

export function fieldsOf(json: true | string | undefined): string[] | undefined {
  if (json === undefined || json === true || json === '') return undefined
  const fields = json.split(',').map((field) => field.trim())
  if (fields.includes('')) throw usageError(`--json: "${json}" has a member without a name`, '--json=payment_id,status')
  return fields
}
