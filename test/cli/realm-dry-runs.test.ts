import t from 'tap'
import { realService } from './real-service.ts'

t.test(
  'a dry run is refused where the change would be: of a realm or a registration that is not there, of what is whole',
  async (t) => {
    const { operate, merchant: addMerchant } = await realService(t)
    const { realm } = await addMerchant()
    const keys = ['staff', 'rotate-keys', '--reason', 'r', '--dry-run']
    t.match(await operate([...keys, 'nope']), {
      code: 6,
      stdout: '',
      stderr: /no such realm\nTry: .*svc merchants list/,
    })
    // Without an identity provider no realm has keys: the dry run says so, as the change would.
    for (const there of [realm, 'platform', 'customers'])
      t.match(await operate([...keys, there]), { code: 6, stdout: '' }, there)
    const repair = ['merchants', 'repair', '--dry-run']
    t.match(await operate([...repair, 'nope']), { code: 6, stdout: '', stderr: /Try: svc merchants registrations/ })
    t.match(await operate([...repair, realm, '--rollback']), { code: 7, stdout: '', stderr: /svc merchants disable/ })
    t.match(await operate([...repair, realm]), { code: 0, stdout: /Effect +this would make again / })
  },
)
