import { COLOR_FLAGS } from '../../base/io.ts'
import { OUTPUT_MODES } from '../../base/output-modes.ts'
import type { OptionData } from './command-data.ts'

export const GLOBAL_OPTIONS: readonly OptionData[] = [
  ...group('Output:', [
    { flags: '-o, --output <form>', summary: 'Output format (SVC_OUTPUT)', choices: OUTPUT_MODES },
    { flags: '--json [fields]', summary: 'Short for -o json; --json=a,b keeps only these members' },
    { flags: '-q, --query <path>', summary: 'Print only the raw value at this path: status_history[0].new_status' },
    { flags: '--no-header', summary: 'Omit the header line in tables and CSV' },
    { flags: '--color <when>', summary: 'When to use colours', choices: COLOR_FLAGS },
    { flags: '--no-pager', summary: 'Do not page long output (SVC_PAGER, PAGER; less)' },
    { flags: '--no-input', summary: 'Never prompt, or open an editor or browser (SVC_NO_INPUT)' },
  ]),
  ...group('Which service:', [
    { flags: '--api-url <url>', summary: 'Address of the service (SVC_API_URL; else that of the state directory)' },
    { flags: '-p, --profile <name>', summary: 'Profile: service and identity (SVC_PROFILE; else svc profile use)' },
    {
      flags: '--client-id <id>',
      summary: 'Client id, with SVC_CLIENT_SECRET (SVC_CLIENT_ID; demo merchant)',
    },
    {
      flags: '--env <file>',
      summary: 'File of environment variables; may be repeated',
      isRepeatable: true,
    },
    { flags: '--state-dir <directory>', summary: 'Data directory of svc up (SVC_STATE_DIR; .svc)' },
  ]),
]

function group(heading: string, options: readonly OptionData[]): OptionData[] {
  return options.map((option) => ({ ...option, group: heading }))
}
