/** Whether version `a` comes after version `b`, both as in package.json; a pre-release comes before its release. */
export function isNewerVersion(a: string, b: string): boolean {
  const [left, right] = [parts(a), parts(b)]
  const at = left.numbers.findIndex((number, index) => number !== right.numbers[index])
  if (at !== -1) return (left.numbers[at] ?? 0) > (right.numbers[at] ?? 0)
  if (left.preRelease === '' || right.preRelease === '') return left.preRelease === '' && right.preRelease !== ''
  return left.preRelease.localeCompare(right.preRelease, 'en', { numeric: true }) > 0
}

/**
 * Whether the code of `version` runs on a database that `newer` has migrated: the next minor release and its patches
 * leave everything in place that the release before uses.
 */
export function isInUpgradeWindow(version: string, newer: string): boolean {
  const [[major, minor], [nextMajor, nextMinor]] = [parts(version).numbers, parts(newer).numbers]
  return major === nextMajor && nextMinor <= minor + 1
}

function parts(version: string): { numbers: [number, number, number]; preRelease: string } {
  const { core = '', preRelease = '' } = /^(?<core>[\d.]+)(?:-(?<preRelease>[^+]*))?/.exec(version)?.groups ?? {}
  const [major = 0, minor = 0, patch = 0] = core.split('.').map(Number)
  return { numbers: [major, minor, patch], preRelease }
}
