export const OUTPUT_MODES = ['table', 'json', 'jsonl', 'yaml', 'csv', 'id'] as const
export type OutputMode = (typeof OUTPUT_MODES)[number]

/** The JSON forms, in which errors are JSON as well. */
export function isJson(
  options: { output?: OutputMode | undefined; json?: true | string | undefined },
  env: NodeJS.ProcessEnv,
): boolean {
  const mode = options.output ?? (options.json === undefined ? env['SVC_OUTPUT'] : 'json')
  return mode === 'json' || mode === 'jsonl'
}
