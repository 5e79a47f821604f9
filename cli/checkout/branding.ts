import type { Command } from 'commander'
import { z } from 'zod'
import { BrandingFont } from '../../src/wire/settings.ts'
import { ChangeOptions, changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { edit, show, preview, set } from './branding-look.ts'

/** `svc branding`: the look of the checkout (decision 27). */
export function addBranding(branding: Command, runtime: Runtime): void {
  branding.addHelpText(
    'after',
    '\nExamples:\n  svc branding set primary=#003B2F font=Georgia\n  svc branding preview\n',
  )
  branding
    .command('show')
    .description('show the look with its defaults, and what is hard to read in it')
    .addHelpText('after', '\nExamples:\n  svc branding show\n  svc branding show -o json > look.json\n')
    .action(action(runtime, z.object({}), show))
  changing(branding.command('set'))
    .description('change parts of the look; a part without a value has its default again')
    .argument(
      '<part=value...>',
      `primary, background and text as #RRGGBB; logo_url; font (${BrandingFont.options.join(', ')})`,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svc branding set primary=#003B2F\n  svc branding set logo_url=https://cdn.shop.example/logo.svg font=Georgia\n  svc branding set logo_url=\n',
    )
    .action(action(runtime, ChangeOptions, set))
  changing(branding.command('edit'))
    .description('change the look as JSON in the editor of VISUAL or EDITOR')
    .addHelpText('after', '\nExamples:\n  svc branding edit\n  EDITOR=nano svc branding edit\n')
    .action(action(runtime, ChangeOptions, edit))
  branding
    .command('preview')
    .description('draw the look in the terminal, with how well it can be read')
    .addHelpText('after', '\nExamples:\n  svc branding preview\n  svc branding preview -o json\n')
    .action(action(runtime, z.object({}), preview))
}
