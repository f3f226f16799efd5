// The answers of panel_page.py shown by Grafana's own components: stat, table and time series are in its npm packages,
// the other kinds of panels are not. To look at, not to test; neither a Grafana nor its plugin runs here.
//
//   python -m tests.house.panel_page FOLDER && cp tests/house/panel_components.jsx FOLDER && cd FOLDER
//   npm install --ignore-scripts --legacy-peer-deps @grafana/ui@11.6 @grafana/data@11.6 react@18 react-dom@18 esbuild
//   npx esbuild panel_components.jsx --bundle --outfile=bundle.js --jsx=automatic --conditions=require \
//     --define:process.env.NODE_ENV='"production"' --define:global=window --loader:.svg=dataurl
//
// and open a page that loads bundle.css, answers.js, an element with the id root and bundle.js: page.html?board=UID.
const React = require('react');
const { createRoot } = require('react-dom/client');
const D = require('@grafana/data');
const { BigValue, GlobalStyles, Table, ThemeContext, TimeSeries } = require('@grafana/ui');

const CELL_W = 60;
const CELL_H = 38;
const theme = D.createTheme({ colors: { mode: 'dark' } });

// The options that our boards set, and how Grafana's packages process them.
const option = (path, isCustom, process = D.identityOverrideProcessor) => ({
  id: isCustom ? `custom.${path}` : path, path, name: path, isCustom, process,
  settings: { expandTemplateVars: true }, shouldApply: () => true, getItemsCount: () => 0,
});
const PROCESSED = { displayName: D.displayNameOverrideProcessor, links: D.dataLinksOverrideProcessor };
const standard = ['unit', 'decimals', 'min', 'max', 'noValue', 'displayName', 'color', 'mappings', 'thresholds', 'links']
  .map((path) => option(path, false, PROCESSED[path]));
const custom = ['width', 'minWidth', 'cellOptions', 'align', 'inspect', 'filterable', 'drawStyle', 'lineWidth',
  'fillOpacity', 'showPoints', 'spanNulls', 'pointSize', 'axisSoftMin', 'axisPlacement', 'stacking', 'fillBelowTo',
  'hideFrom'].map((path) => option(path, true));
const registry = new D.FieldConfigOptionsRegistry(() => [...standard, ...custom]);
D.standardFieldConfigEditorRegistry.setInit(() => standard);

// What Grafana puts where a panel says nothing.
const steps = [{ value: -Infinity, color: 'green' }, { value: 80, color: 'red' }];
const defaults = (panel) => ({
  color: { mode: panel.type === 'timeseries' ? 'palette-classic' : 'thresholds' },
  thresholds: { mode: 'absolute', steps },
});

function filled(text, scoped) {
  const field = scoped?.__dataContext?.value?.field ?? scoped?.__field?.value;
  return text
    .replace(/\$\{__field\.labels\.(\w+)\}/g, (all, name) => field?.labels?.[name] ?? all)
    .replace(/\$(\w+)/g, (all, name) => window.CHOSEN[name] ?? all);
}

function kindOf(type) {
  if (/DateTime/.test(type)) return D.FieldType.time;
  if (/Map|Array|Tuple/.test(type)) return D.FieldType.other;
  return /Int|Float|Decimal/.test(type) ? D.FieldType.number : D.FieldType.string;
}

function valueOf(kind, value) {
  if (value === null) return null;
  if (kind === D.FieldType.time) return Date.parse(`${value.replace(' ', 'T')}Z`);
  return kind === D.FieldType.number ? Number(value) : value;
}

// Long to wide, as the data source does it for time series: a text column becomes a label.
function frameOf({ meta, data }, long) {
  const fields = meta.map(({ name, type }) => {
    const kind = kindOf(type);
    return { name, type: kind, config: {}, values: data.map((row) => valueOf(kind, row[name])) };
  });
  const text = fields.find((field) => field.type === D.FieldType.string);
  if (!long || !text) return { fields, length: data.length };
  const time = fields.find((field) => field.type === D.FieldType.time);
  const times = [...new Set(time.values)].sort((a, b) => a - b);
  const wide = [{ ...time, values: times }];
  for (const number of fields.filter((field) => field.type === D.FieldType.number)) {
    for (const label of [...new Set(text.values)].sort()) {
      const at = new Map();
      text.values.forEach((value, row) => value === label && at.set(time.values[row], number.values[row]));
      wide.push({ ...number, labels: { [text.name]: label }, values: times.map((t) => at.get(t) ?? null) });
    }
  }
  return { fields: wide, length: times.length };
}

function Panel({ panel, told, from, to }) {
  if (!told) return null;
  if (!told.data.length) return <p>No data</p>;
  const [width, height] = [panel.gridPos.w * CELL_W - 24, panel.gridPos.h * CELL_H - 50];
  const fieldConfig = { ...panel.fieldConfig, defaults: { ...defaults(panel), ...panel.fieldConfig.defaults } };
  const shared = { fieldConfig, theme, timeZone: 'utc', replaceVariables: filled };
  const long = panel.targets[0].format === 0;
  const data = D.applyFieldOverrides({ ...shared, data: [frameOf(told, long)], fieldConfigRegistry: registry });
  const { options } = panel;
  if (panel.type === 'table') return <Table data={data[0]} width={width} height={height} cellHeight={options.cellHeight} />;
  if (panel.type === 'timeseries') {
    const timeRange = { from: D.dateTime(from), to: D.dateTime(to), raw: { from: '', to: '' } };
    return <TimeSeries {...{ frames: data, width, height, timeRange, options }} timeZone="utc" legend={options.legend} />;
  }
  if (panel.type !== 'stat') return <p>{panel.type}: not in @grafana/ui</p>;
  const shown = D.getFieldDisplayValues({ ...shared, data, reduceOptions: options.reduceOptions });
  const alignmentFactors = D.getDisplayValueAlignmentFactors(shown);
  return <div style={{ display: 'flex' }}>{shown.map(({ display }, n) => (
    <BigValue key={n} {...options} {...{ alignmentFactors, theme, height }} value={display} width={width / shown.length - 4} />
  ))}</div>;
}

class Safe extends React.Component {
  state = {};
  static getDerivedStateFromError(error) { return { error }; }
  render() { return this.state.error ? <pre>{this.state.error.stack}</pre> : this.props.children; }
}

function Board({ board, panels, from, to }) {
  const bottom = Math.max(...panels.map(({ panel }) => panel.gridPos.y + panel.gridPos.h)) * CELL_H;
  const place = ({ x, y, w, h }) => ({
    position: 'absolute', left: x * CELL_W, top: y * CELL_H, width: w * CELL_W - 6, height: h * CELL_H - 6,
    padding: 6, overflow: 'hidden', border: '1px solid #2a2d33',
  });
  return <ThemeContext.Provider value={theme}><GlobalStyles /><h3>{board.title}</h3>
    <div style={{ position: 'relative', height: bottom }}>{panels.map(({ panel, told }) => (
      <div key={panel.id} style={place(panel.gridPos)}>
        <b>{filled(panel.title)}</b><Safe><Panel {...{ panel, told, from, to }} /></Safe>
      </div>))}
    </div></ThemeContext.Provider>;
}

const uid = new URLSearchParams(location.search).get('board');
createRoot(document.getElementById('root')).render(<Board {...window.BOARDS.find(({ board }) => board.uid === uid)} />);
