import { stem } from './stem.ts';

/** Words that join and do not tell, of the languages that tasks are most often written in. */
const JOINING = `a about above after again all also although am an and any are as at be because been before being below between both but by can cannot
could did do does doing done down during each either else etc even ever every few for from further get gets getting got had has have having he her here hers him
his how i if in into is it its itself just let like may maybe me might more most much must my need needs neither no nor not now of off often on once only or
other our out over own per please quite rather s same she should since so some still such t than that the their them then there these they this those though
through thus to too under until up upon us use used uses using very via was we well were what when where whether which while who whom whose why will with
within without would yes yet you your also dont doesnt isnt cant wont im ive its lets
al con da das de dei del della den der des di die do dos du e ein eine einen einer el em en es est et fur il ist la las le les los mit na nao no non nos o os
para par pas per por pour que qui se si sur um uma un una und une uno von y zu zum zur`;

const PATH_PARTS = 'src lib www';

export const STOP_WORDS: ReadonlySet<string> = new Set(`${JOINING} ${PATH_PARTS}`.split(/\s+/));

/** The ending of a file name says which language a project is in, which all of its tasks share; `JSON output` keeps its word. */
export const FILE_ENDING =
  /(?<=[\p{L}\p{N}_)\]])\.(?:[cm]?[jt]sx?|py|rb|rs|go|java|kts?|swift|cpp|hpp|cc|cs|php|s?css|sass|html?|md|json|ya?ml|toml|xml|sh|txt|sql|vue)\b/giu;

/** Written apart, with a hyphen or in one, by different people: `health check` and `healthcheck` are one term. */
const COMPOUNDS = `back end|front end|health check|time zone|time stamp|time out|web socket|web hook|log in|log out|sign in|sign up|sign out|file name|user name|
host name|name space|drop down|check box|check out|set up|clean up|start up|road map|data base|data set|white list|black list|allow list|side bar|tool bar|
tool tip|tool chain|nav bar|pop up|roll back|fall back|call back|work flow|work space|life cycle|run time|code base|dead lock|end point|meta data|play back|
time line|white space|work around|auto save|auto complete`;

export const COMPOUND = new RegExp(`\\b(?:${COMPOUNDS.replaceAll('\n', '').replaceAll(' ', '[ -]')})(?=s?\\b)`, 'giu');

/** Names with a capital inside that are one word: in parts they would count twice. */
export const BRAND =
  /\b(?:GraphQL|GitHub|GitLab|BitBucket|OAuth|OpenAI|OpenAPI|OpenTelemetry|OpenGL|OpenSSL|JavaScript|TypeScript|CoffeeScript|jQuery|PostgreSQL|MySQL|SQLite|NoSQL|MongoDB|DynamoDB|MariaDB|RabbitMQ|iOS|iPadOS|macOS|tvOS|watchOS|FreeBSD|YouTube|LinkedIn|PayPal|WebGL|WebAssembly|WebRTC|WebSocket|DevOps|IntelliJ|VSCode|JetBrains|LaTeX|NumPy|SciPy|PyTorch|TensorFlow|FastAPI|NextJS|NodeJS|npm|IPv[46]|UTF8)(?=s?\b)/gu;

/** Short and long form of one thing, and two words for one thing, as developers write them; each group becomes its first word. */
const SAME = `authentication auth authn authenticate|login signin logon|authorization authz authorize|database db|repository repo|configuration config cfg conf configure|
directory dir folder|documentation docs doc|kubernetes k8s kube|internationalization i18n internationalize|localization l10n localize|accessibility a11y|
performance perf|environment env|parameter param|argument arg|message msg|error err exception|button btn|image img picture|implement impl implementation|
dependency dep|postgres postgresql pg psql|application app|administrator admin|information info|specification spec|maximum max|minimum min|temporary temp tmp|
variable var|function func fn|request req|response resp|number num|reference ref|package pkg|initialize init initialise|synchronize sync synchronise|
asynchronous async|management mgmt|navigation nav navbar|remove delete erase deletion removal|create add creation addition|destination dest dst|previous prev|
current curr|index idx|string str|command cmd|development dev|production prod|memory mem|address addr|attribute attr|certificate cert|credential cred|
character char|generate gen|context ctx|object obj|original orig|description desc|calculate calc compute|column col|average avg|transaction txn tx|websocket ws|
vulnerability vuln cve|notification notif notify|organization org organisation|colour color|behaviour behavior|email mail|cancel abort|verify check verification|
timezone tz|upgrade bump|deduplicate dedupe dedup|observability o11y|validate validation|optimize optimise optimization|serialize serialise|analyze analyse`;

export const SAME_WORD: ReadonlyMap<string, string> = new Map(
  SAME.split('|').flatMap((group) => {
    const [first = '', ...others] = group.trim().split(/\s+/).map(stem);
    return others.filter((other) => other !== first).map((other) => [other, first] as const);
  }),
);
