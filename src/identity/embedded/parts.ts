import type { App } from '../../app.ts'

/**
 * The parts of the app that the embedded provider needs. It is created before the app is complete, so they are named
 * here.
 */
export type EmbeddedParts = Pick<
  App,
  | 'config'
  | 'publicUrl'
  | 'pool'
  | 'sealer'
  | 'lookupHash'
  | 'ids'
  | 'wake'
  | 'rates'
  | 'networks'
  | 'log'
  | 'securityLog'
>
