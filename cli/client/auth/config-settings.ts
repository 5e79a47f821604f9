import { join } from 'node:path'
import { parseDuration } from '../../../src/lib/duration.ts'
import { quoted } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import { OUTPUT_MODES } from '../../base/output-modes.ts'
import { yaml } from '../../base/yaml.ts'
import { configDirOf, readIfThere } from './config-dir.ts'

/** Names under which people keep what must not be known: no configuration file may have one. */
const SECRET = /secret|token|passw|pwd|credential|private_?key|api_?key|encryption_?key|auth_?key/i

/**
 * A configuration file as data.
 * @throws {CliError} exit code 2 where it is no YAML, or holds a key that names a secret; no value of it is told
 */
export function parsedConfig(file: string, text: string): unknown {
  const data = parsed(file, text)
  refuseSecrets(file, data)
  return data
}

function parsed(file: string, text: string): unknown {
  try {
    return yaml().parse(text)
  } catch (cause) {
    // The parser's own message quotes the line, which may hold anything.
    const line = cause instanceof Error && 'linePos' in cause ? firstLine(cause.linePos) : ''
    throw usageError(
      `${file}: this is no YAML${line}`,
      `to have it as it was never there: mv ${quoted(file)} ${quoted(`${file}.old`)}`,
    )
  }
}

function firstLine(positions: unknown): string {
  const first: unknown = Array.isArray(positions) ? positions[0] : undefined
  return typeof first === 'object' && first !== null && 'line' in first && Number.isInteger(first.line)
    ? ` in line ${String(first.line)}`
    : ''
}

/** Profiles have the names that users give them; what is in one is looked at like the rest. */
function refuseSecrets(file: string, data: unknown): void {
  for (const [key, value] of Object.entries(Object(data))) {
    if (SECRET.test(key)) throw refused(file, key)
    if (key !== 'profiles') continue
    for (const [name, profile] of Object.entries(Object(value))) {
      const secret = Object.keys(Object(profile)).find((each) => SECRET.test(each))
      if (secret !== undefined) throw refused(file, `profiles.${name}.${secret}`)
    }
  }
}

function refused(file: string, key: string): Error {
  return usageError(
    `${file}: ${key}: a configuration file holds no secrets`,
    'the environment, such as SVC_TOKEN or SVC_CLIENT_SECRET; --env <file>; or svc login, which keeps its own',
  )
}

/** The settings of a configuration file that are no profile, and the variable that each is the same as. */
const SETTINGS = { output: 'SVC_OUTPUT', color: 'SVC_COLOR', pager: 'SVC_PAGER', timeout: 'SVC_TIMEOUT' } as const
type Setting = keyof typeof SETTINGS

const CHOICES: Partial<Record<Setting, readonly string[]>> = {
  output: OUTPUT_MODES,
  color: ['auto', 'always', 'never'],
}

// A file that can hold none of them is not parsed: that of who only has profiles costs `svc --help` nothing.
const MAY_HOLD_SETTING = new RegExp(`^\\W*(${Object.keys(SETTINGS).join('|')})\\b`, 'm')

type File = { path: string; isProject: boolean }

/** How a project's file is called in what is told of it: commands run in its directory. */
export const PROJECT_FILE = '.svc/config.yaml'

/** The project's file and the user's, the one that wins first. */
function filesOf(env: NodeJS.ProcessEnv, cwd: string): File[] {
  return [
    { path: join(cwd, '.svc', 'config.yaml'), isProject: true },
    { path: join(configDirOf(env), 'config.yaml'), isProject: false },
  ]
}

/**
 * The environment with what the configuration files add to it. A variable that is set wins over both files, and the
 * project's file over the user's.
 * @param origins takes the file of each variable that comes from one
 * @throws {CliError} exit code 2 for a value that can't be, a secret, or a project's pager, naming file and key
 */
export function withConfigFiles(env: NodeJS.ProcessEnv, cwd: string, origins: Map<string, string>): NodeJS.ProcessEnv {
  const settled = { ...env }
  for (const file of filesOf(env, cwd)) {
    const text = readIfThere(file.path)
    if (text === undefined || !MAY_HOLD_SETTING.test(text)) continue
    for (const [key, value] of settingsIn(file, text)) {
      const name = SETTINGS[key]
      // An empty pager is a wish: none.
      const isSet = key === 'pager' ? settled[name] !== undefined : (settled[name] ?? '') !== ''
      if (isSet) continue
      settled[name] = value
      origins.set(name, file.isProject ? PROJECT_FILE : file.path)
    }
  }
  return settled
}

function settingsIn({ path, isProject }: File, text: string): [Setting, string][] {
  const config = Object(parsedConfig(path, text)) as Record<string, unknown>
  const keys = (Object.keys(SETTINGS) as Setting[]).filter((key) => Object.hasOwn(config, key))
  // Who made the directory that one works in runs nothing on this machine.
  if (isProject && keys.includes('pager')) throw noPager(path)
  return keys.map((key) => [key, checked(path, key, config[key])])
}

function noPager(file: string): Error {
  return usageError(
    `${file}: pager: a project's file starts no program`,
    'pager in your own config.yaml (svc help environment), or SVC_PAGER',
  )
}

function checked(file: string, key: Setting, value: unknown): string {
  if (typeof value !== 'string') throw usageError(`${file}: ${key}: must be a text`)
  const choices = CHOICES[key]
  if (choices !== undefined && !choices.includes(value))
    throw usageError(`${file}: ${key}: "${value}" is none of ${choices.join(', ')}`)
  if (key === 'timeout') checkDuration(file, value)
  return value
}

function checkDuration(file: string, value: string): void {
  try {
    parseDuration(value)
  } catch (error) {
    throw usageError(`${file}: timeout: ${error instanceof Error ? error.message : String(error)}`)
  }
}
