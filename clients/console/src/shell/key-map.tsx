import { Dialog } from '../design/dialog.tsx'
import { Table } from '../design/table.tsx'
import { longTitleOf, places } from '../pages/all.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'

const words = wordsOf({
  title: ['Keys', '快捷键'],
  key: ['Key', '按键'],
  does: ['What it does', '作用'],
  palette: ['Find a run, a page or a command', '查找运行、页面或命令'],
  map: ['This list', '显示此列表'],
  search: ['Search this page', '在此页面搜索'],
  move: ['Next and previous row or sample', '下一个或上一个行/样本'],
  choose: ['Select a run, or a range up to here', '选择运行，或选择到此处的范围'],
  star: ['Star a run, or remove its star', '为运行加星标或取消星标'],
  chart: ['Chart: cursor, pan, zoom, all of it', '图表：光标、平移、缩放、全部'],
  annotate: ['Annotation: choose, score, edit, skip, undo', '标注：选择、评分、编辑、跳过、撤销'],
  close: ['Close', '关闭'],
})

export function KeyMap({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const language = useLanguage()
  const rows = [
    ['Ctrl K', say.palette],
    ['?', say.map],
    ...places.flatMap(place =>
      place.key === undefined ? [] : [[`g ${place.key}`, longTitleOf(place, language)] as const],
    ),
    ['/', say.search],
    ['j k', say.move],
    ['x X', say.choose],
    ['*', say.star],
    ['← →  Shift ← →  + −  0', say.chart],
    ['0 – 9  e  s  u', say.annotate],
    ['Esc', say.close],
  ] as const
  return (
    <Dialog title={say.title} onClose={onClose}>
      <Table
        caption={say.title}
        keyOf={([key]) => key}
        rows={rows}
        columns={[
          { key: 'key', title: say.key, cell: ([key]) => <kbd>{key}</kbd> },
          { key: 'does', title: say.does, cell: ([, does]) => does },
        ]}
      />
    </Dialog>
  )
}
