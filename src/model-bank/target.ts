import type { IncomingMessage } from 'node:http'
import {
  AUTHORISATION_PATH,
  DISCOVERY_PATH,
  INTERACTION_PATH,
  JWKS_PATH,
  PUSHED_REQUEST_PATH,
  REGISTRATION_PATH,
  TOKEN_PATH,
} from './authorisation-server.ts'
import { OPERATIONS } from './operations.ts'
import type { Operation } from './operations.ts'
import { VERSIONS } from './versions.ts'
import type { Version } from './versions.ts'

/** What a request for a resource is about. */
export type ResourceTarget = {
  version: Version
  /** Below the version's base path. */
  path: string
  /** Undefined where there is no such resource or method. */
  operation: Operation | undefined
  id: string
}

export function isResourcePath(path: string): boolean {
  return VERSIONS.some(({ basePath }) => path.startsWith(`${basePath}/`))
}

export function resourceTargetOf({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): ResourceTarget {
  const [full = ''] = url.split('?')
  const version = VERSIONS.find(({ basePath }) => full.startsWith(`${basePath}/`))
  if (version === undefined) throw new Error(`not a path of resources: ${full}`)
  const path = full.slice(version.basePath.length)
  const operation = OPERATIONS.find((each) => each.method === method && each.path.test(path))
  return { version, path, operation, id: operation?.path.exec(path)?.[1] ?? '' }
}

/** The operations besides resources, by the beginning of their paths. */
const PLACES: readonly (readonly [path: string, operation: string])[] = [
  [DISCOVERY_PATH, 'discovery'],
  ['/discovery', 'discovery'],
  [JWKS_PATH, 'jwks'],
  [REGISTRATION_PATH, 'register'],
  [TOKEN_PATH, 'token'],
  [PUSHED_REQUEST_PATH, 'pushRequest'],
  [AUTHORISATION_PATH, 'authorise'],
  [INTERACTION_PATH, 'authorise'],
  ['/directory/', 'directory'],
]

/** The name of what is asked for, as faults and the list of calls have it. */
export function operationNameOf(req: Pick<IncomingMessage, 'method' | 'url'>): string {
  const [path = ''] = (req.url ?? '').split('?')
  if (isResourcePath(path)) return resourceTargetOf(req).operation?.name ?? 'unknown'
  return PLACES.find(([place]) => path.startsWith(place))?.[1] ?? 'unknown'
}
