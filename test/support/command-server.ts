import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runCli } from '../cli/harness.ts'
import { SCRATCH } from './scratch.ts'

/**
 * Runs command lines that a shell sends, in this process: starting Node.js for each of dozens costs half a second of a
 * core. The body has the standard input behind the words and variables; the answer is the exit code and the beginning of
 * the names of two files with the output. Answers with the function `svc` of a shell that asks it.
 */
export async function commandServer(t: Test, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const folder = mkdtempSync(join(SCRATCH, 'svc-commands-'))
  let count = 0
  const server = createServer((req, res) => {
    void (async () => {
      const parts = await buffer(req)
      const end = parts.indexOf('\0\0')
      const [cwd = '', ...fields] = parts.subarray(0, end).toString().split('\0')
      const at = fields.indexOf('--words--')
      const own = fields.slice(0, at).map((field): [string, string] => {
        const equals = field.indexOf('=')
        return [field.slice(0, equals), field.slice(equals + 1)]
      })
      const { code, stdout, stderr } = await runCli(fields.slice(at + 1), {
        cwd,
        env: { ...env, ...Object.fromEntries(own) },
        stdin: parts.subarray(end + 2),
      })
      const name = join(folder, `output-${(count += 1)}`)
      writeFileSync(`${name}.out`, stdout)
      writeFileSync(`${name}.err`, stderr)
      res.end(`${code} ${name}`)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return shellFunction(`http://127.0.0.1:${address.port}`)
}

function shellFunction(url: string): string {
  return `svc() {
  local answer
  answer=$({
    printf '%s\\0' "$PWD"
    env -0 | grep -z '^SVC_' || true
    printf '%s\\0' --words-- "$@"
    printf '\\0'
    case " $* " in *' - '*|*stdin*) cat ;; esac
  } | command curl -s --data-binary @- '${url}')
  cat "\${answer#* }.out"
  cat "\${answer#* }.err" >&2
  return "\${answer%% *}"
}`
}
