import test from 'ava'
import {
  listOf,
  quotaOf,
  seriesOf,
  stepOf,
  textOfSeries,
} from '../../clients/console/src/pages/admin/quota-draft.ts'

test('limits by series are written in the form in which they are read', t => {
  const series = {
    H100: { max_concurrent_gpus: 8 },
    A100: { max_concurrent_gpus: 4, daily_gpu_hours: 24.5 },
    L4: { daily_gpu_hours: 0 },
  }
  t.is(textOfSeries(series), 'H100=8, A100=4/24.5, L4=/0')
  t.deepEqual(seriesOf(textOfSeries(series)), series)
  t.deepEqual(seriesOf(' H100 = 8 , '), { H100: { max_concurrent_gpus: 8 } })
  t.deepEqual(seriesOf(''), {})
  for (const text of ['H100', 'H100=', '=8', 'H100=-1', 'H100=8/', 'H100=8 A100=4', 'L4=1, L4=2'])
    t.is(seriesOf(text), null, text)
})

test('a form gives a quota, and an unreadable form none', t => {
  t.deepEqual(listOf(' h100-1x, h100-8x ,, h100-1x'), ['h100-1x', 'h100-8x'])
  t.is(stepOf('daily_gpu_hours'), 'any')
  t.is(stepOf('priority'), 1)
  const form = new FormData()
  for (const [name, text] of Object.entries({
    max_concurrent_gpus: '32',
    max_concurrent_jobs: '4',
    daily_gpu_hours: '1.5',
    max_storage_gb: '0',
    priority: '7',
    allowed_profiles: '',
    per_series: 'H100=8',
  }))
    form.set(name, text)
  t.deepEqual(quotaOf('ada', form), {
    username: 'ada',
    max_concurrent_gpus: 32,
    max_concurrent_jobs: 4,
    daily_gpu_hours: 1.5,
    max_storage_gb: 0,
    priority: 7,
    allowed_profiles: [],
    per_series: { H100: { max_concurrent_gpus: 8 } },
  })
  form.set('per_series', 'eight')
  t.is(quotaOf('ada', form), null)
})
