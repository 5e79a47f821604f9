import { join } from 'node:path'
import { configDirOf } from '../../client/auth/config-dir.ts'
import { withConfigFiles } from '../../client/auth/config-settings.ts'
import { configFile, readProjectConfig, readUserConfig } from '../../client/auth/profiles.ts'
import { quoted } from '../../base/command-hints.ts'
import { CliError } from '../../base/errors.ts'
import type { Io } from '../../base/io.ts'
import { finding, ok } from './check.ts'
import type { Check } from './check.ts'

type Place = Pick<Io, 'env' | 'cwd'>

/** Whether the project's config.yaml and the user's own can be read: any other command is refused where they can't. */
export function checkConfigFiles(place: Place): Check {
  const check = 'config files'
  const problem = configFilesProblem(place)
  if (problem === undefined) return ok(check, 'those that are here can be read')
  const files = [join(place.cwd, '.svc', 'config.yaml'), configFile(configDirOf(place.env))]
  const file = files.find((each) => problem.startsWith(each)) ?? files[0] ?? ''
  return finding(check, problem, `"\${EDITOR:-nano}" ${quoted(file)}`)
}

/** What is wrong with the first of them that can't be used; undefined where nothing is. */
export function configFilesProblem({ env, cwd }: Place): string | undefined {
  try {
    withConfigFiles(env, cwd, new Map())
    readProjectConfig(cwd)
    readUserConfig(configDirOf(env))
    return undefined
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
}
