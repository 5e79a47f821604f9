import { join } from 'node:path'
import { parseDuration } from '../../../src/lib/duration.ts'
import { quoted } from '../../base/command-hints.ts'
import { usageError, messageOf } from '../../base/errors.ts'
import { OUTPUT_MODES } from '../../base/output-modes.ts'
import { yaml } from '../../base/yaml.ts'
import { configDirOf, readIfThere } from './config-dir.ts'

export function configFile(configDir: string): string {
  return join(configDir, 'config.yaml')
}

/** A configuration file as data. @throws {CliError} exit code 2 where it is not YAML; no value is repeated */
export function parsedConfig(file: string, text: string): unknown {
  try {
    return yaml().parse(text)
  } catch (cause) {
    // The parser's own message quotes the line, which may hold anything.
    const [first] = Object(cause).linePos ?? []
    throw usageError(
      `${file}: not valid YAML${first === undefined ? '' : ` in line ${first.line}`}`,
      `to have it as it was never there: mv ${quoted(file)} ${quoted(`${file}.old`)}`,
    )
  }
}

/** The settings of a configuration file that are no profile, and the variable that each is the same as. */
const SETTINGS = { output: 'SVC_OUTPUT', color: 'SVC_COLOR', pager: 'SVC_PAGER', timeout: 'SVC_TIMEOUT' } as const
type Setting = keyof typeof SETTINGS
const NAMES = Object.keys(SETTINGS) as Setting[]

const CHOICES: Partial<Record<Setting, readonly string[]>> = {
  output: OUTPUT_MODES,
  color: ['auto', 'always', 'never'],
}

// A file that can hold none of them is not parsed: that of who only has profiles costs `svc --help` nothing.
const MAY_HOLD_SETTING = new RegExp(`^\\W*(${NAMES.join('|')})\\b`, 'm')

/**
 * The environment with what the user's configuration file adds to it. A variable that is set wins over the file.
 * @param origins takes the file of each variable that comes from it
 * @throws {CliError} exit code 2 for a value that can't be, naming file and key
 */
export function withConfigFile(env: NodeJS.ProcessEnv, origins: Map<string, string>): NodeJS.ProcessEnv {
  const file = configFile(configDirOf(env))
  const text = readIfThere(file)
  if (text === undefined || !MAY_HOLD_SETTING.test(text)) return env
  const config = Object(parsedConfig(file, text)) as Record<string, unknown>
  const settled = { ...env }
  for (const key of NAMES.filter((each) => Object.hasOwn(config, each))) {
    const name = SETTINGS[key]
    const value = checked(file, key, config[key])
    // An empty pager is a wish: none.
    if (key === 'pager' ? settled[name] !== undefined : (settled[name] ?? '') !== '') continue
    settled[name] = value
    origins.set(name, file)
  }
  return settled
}

function checked(file: string, key: Setting, value: unknown): string {
  if (typeof value !== 'string') throw usageError(`${file}: ${key}: must be a text`)
  const choices = CHOICES[key]
  if (choices !== undefined && !choices.includes(value))
    throw usageError(`${file}: ${key}: "${value}" is none of ${choices.join(', ')}`)
  if (key !== 'timeout') return value
  try {
    parseDuration(value)
    return value
  } catch (error) {
    throw usageError(`${file}: timeout: ${messageOf(error)}`)
  }
}
