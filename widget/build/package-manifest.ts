type Repository = string | { url: string }

/** What the package for pages takes from this one. */
export type MainManifest = {
  name: string
  version: string
  publishConfig: object
  repository?: Repository
  homepage?: string
  bugs?: unknown
}

/**
 * The manifest of the package for pages: scope, version and what npm publishes it with are those of the main package. It
 * stays private, which npm never publishes, until the main package names its source.
 */
export function checkoutManifest(own: object, main: MainManifest): Record<string, unknown> {
  const { name, version, publishConfig, repository, homepage, bugs } = main
  const scoped = { name: name.replace(/[^/]+$/, 'checkout'), version, ...own }
  if (repository === undefined) return { ...scoped, private: true }
  const { url } = typeof repository === 'string' ? { url: repository } : repository
  const more = { homepage, bugs, publishConfig, repository: { type: 'git', url, directory: 'widget/package' } }
  // From dist/checkout-package. npm runs it for a folder alone, so never where the package is installed.
  const scripts = { prepublishOnly: 'cd ../.. && npm run prepublishOnly' }
  return { ...scoped, private: undefined, scripts, ...more }
}
