import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Access, Operation } from '../../../../src/wire/operation.ts'

export const OPERATIONS: readonly Operation[] = (await modules()).flatMap((module) =>
  Object.values(module).filter(isOperation),
)

function modules(): Promise<object[]> {
  const folder = join(import.meta.dirname, '..', '..', '..', '..', 'src', 'wire')
  const files = readdirSync(folder).filter((file) => /(?<!\.d)\.[jt]s$/.test(file))
  return Promise.all(files.map((file) => import(pathToFileURL(join(folder, file)).href)))
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value
}

/** The operation of a method and a path; of two that fit, the one with fewer parameters. */
export function findOperation(method: string, pathname: string): Operation | undefined {
  const fitting = OPERATIONS.filter((each) => each.method === method && patternOf(each).test(pathname))
  return fitting.toSorted((a, b) => parametersIn(a) - parametersIn(b))[0]
}

export function methodsOf(pathname: string): string[] {
  return OPERATIONS.filter((each) => patternOf(each).test(pathname)).map(({ method }) => method)
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function parametersIn({ path }: Operation): number {
  return path.split('{').length
}

/** Who may call what this version does not know, by where it stands. */
export function accessByPath(pathname: string): readonly Access[] {
  if (pathname.startsWith('/open-banking/')) return ['customer']
  if (pathname.startsWith('/api/v1/admin/')) return ['platform']
  if (pathname.startsWith('/api/v1/payer/')) return ['payer']
  if (pathname.startsWith('/api/v1/sandbox/')) return ['sandbox']
  return pathname.startsWith('/api/') ? ['merchant'] : ['anyone']
}
