import type { App } from '../../app.ts'

/** What the embedded provider needs of the app. It is made before the app is whole, so it gets these by name. */
export type EmbeddedParts = Pick<App, 'config' | 'publicUrl' | 'pool' | 'sealer' | 'ids' | 'wake' | 'log'>
