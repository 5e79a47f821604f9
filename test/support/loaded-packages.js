/*
 * For `node --import`: writes the packages of node_modules that the process loaded, one per line, into the file that
 * SVC_LOADED_FILE names, when it ends.
 */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const packages = new Set()
registerHooks({
  load(url, context, next) {
    const name = /.*\/node_modules\/(?<name>@[^/]+\/[^/]+|[^/]+)\//.exec(url)?.groups?.name
    if (name !== undefined) packages.add(name)
    return next(url, context)
  },
})
process.on('exit', () => writeFileSync(process.env.SVC_LOADED_FILE, [...packages].join('\n')))
