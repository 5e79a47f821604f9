import { COLOR_FLAGS } from '../../base/io.ts'
import { OUTPUT_MODES } from '../../base/output-modes.ts'
import type { OptionData } from './command-data.ts'

/** Every option that any command takes, before or after its words. */
export const GLOBAL_OPTIONS: readonly OptionData[] = [
  ...group('Output:', [
    { flags: '-o, --output <form>', summary: 'how results are printed (SVC_OUTPUT)', choices: OUTPUT_MODES },
    { flags: '--json [fields]', summary: 'short for -o json; --json=a,b keeps only these members' },
    { flags: '-q, --query <path>', summary: 'print only the value at this path, raw: status_history[0].new_status' },
    { flags: '--no-header', summary: 'no header line in tables and CSV' },
    { flags: '--color <when>', summary: 'colours', choices: COLOR_FLAGS },
    { flags: '--no-pager', summary: 'print what is longer than the terminal as it is (SVC_PAGER, PAGER; less)' },
    { flags: '--no-input', summary: 'ask nothing, and open no editor or browser (SVC_NO_INPUT)' },
  ]),
  ...group('Which service:', [
    { flags: '--api-url <url>', summary: 'the service (SVC_API_URL; else the one of the state directory)' },
    { flags: '-p, --profile <name>', summary: 'who to act as, and where (SVC_PROFILE; else svc profile use)' },
    {
      flags: '--client-id <id>',
      summary: 'the client to act as, with SVC_CLIENT_SECRET (SVC_CLIENT_ID; else the demo merchant)',
    },
    {
      flags: '--env <file>',
      summary: 'variables that the environment does not have; may be repeated',
      isRepeatable: true,
    },
    { flags: '--state-dir <directory>', summary: 'where svc up keeps its data (SVC_STATE_DIR; .svc)' },
  ]),
]

function group(heading: string, options: readonly OptionData[]): OptionData[] {
  return options.map((option) => ({ ...option, group: heading }))
}
