/** Stop words of the languages in which tasks are most often written. */
export const JOINING_WORDS = `a about above after again all also although am an and any are as at be because been before being below between both but by can cannot
could did do does doing done down during each either else etc even ever every few for from further get gets getting got had has have having he her here hers him
his how i if in into is it its itself just let like may maybe me might more most much must my need needs neither no nor not now of off often on once only or
other our out over own per please quite rather s same she should since so some still such t than that the their them then there these they this those though
through thus to too under until up upon us use used uses using very via was we well were what when where whether which while who whom whose why will with
within without would yes yet you your also dont doesnt isnt cant wont im ive its lets
al con da das de dei del della den der des di die do dos du e ein eine einen einer el em en es est et fur il ist la las le les los mit na nao no non nos o os
para par pas per por pour que qui se si sur um uma un una und une uno von y zu zum zur`;

/** Folder names that give no information about a task. */
export const PATH_WORDS = 'src lib www';

/** People write these terms as two words, with a hyphen or as one word. For example, `health check` and `healthcheck` count as the same term. */
export const COMPOUND_WORDS = `back end|front end|health check|time zone|time stamp|time out|web socket|web hook|log in|log out|sign in|sign up|sign out|file name|user name|
host name|name space|drop down|check box|check out|set up|clean up|start up|road map|data base|data set|white list|black list|allow list|side bar|tool bar|
tool tip|tool chain|nav bar|pop up|roll back|fall back|call back|work flow|work space|life cycle|run time|code base|dead lock|end point|meta data|play back|
time line|white space|work around|auto save|auto complete`;

/** Synonyms, abbreviations and their long forms. Every word of a group is replaced by the first word of that group. */
export const SYNONYMS = `authentication auth authn authenticate|login signin logon|authorization authz authorize|database db|repository repo|configuration config cfg conf configure|
directory dir folder|documentation docs doc|kubernetes k8s kube|internationalization i18n internationalize|localization l10n localize|accessibility a11y|
performance perf|environment env|parameter param|argument arg|message msg|error err exception|button btn|image img picture|implement impl implementation|
dependency dep|postgres postgresql pg psql|application app|administrator admin|information info|specification spec|maximum max|minimum min|temporary temp tmp|
variable var|function func fn|request req|response resp|number num|reference ref|package pkg|initialize init initialise|synchronize sync synchronise|
asynchronous async|management mgmt|navigation nav navbar|remove delete erase deletion removal|create add creation addition|destination dest dst|previous prev|
current curr|index idx|string str|command cmd|development dev|production prod|memory mem|address addr|attribute attr|certificate cert|credential cred|
character char|generate gen|context ctx|object obj|original orig|description desc|calculate calc compute|column col|average avg|transaction txn tx|websocket ws|
vulnerability vuln cve|notification notif notify|organization org organisation|colour color|behaviour behavior|email mail|cancel abort|verify check verification|
timezone tz|upgrade bump|deduplicate dedupe dedup|observability o11y|validate validation|optimize optimise optimization|serialize serialise|analyze analyse`;

/**
 * How common terms are in software tasks in general. This table makes IDF useful even in a workspace with only five tasks. The values are
 * document frequencies in the repositories of the benchmark. Terms of the first class occur in a quarter of all tasks, and each class is half as
 * frequent as the class before it. Each frequency is a mean that excludes the two highest and the two lowest repositories, because the words of
 * a single product are not common in software. Words that agents use in any title have a minimum frequency, because people use them less in
 * their pull requests.
 */
export const COMMON_TERMS = `creat fix|remov test updat|bug chang cod documentat error fil implement improv mak refactor|allow api behaviour build call cas cleanup commit 
configurat default enhanc ensur exampl fail featur funct general handl instead issu link messag method minor misc mov nam new problem referenc return 
run set small string support typ valu various verify vers work|applicat argument avoid backend bas broken caus class client clos command comment 
component correct data dependency deprecat directory document enabl endpoint event exist first flow follow frontend generat imag includ informat 
install integrat key lin list load log logic merg miss modul nod not number object one option packag pag parameter pass path project property releas 
replac request requir result review see server servic show skip start stat stuff system task text thing tim try typo ui upgrad user util variabl warn 
window|10 access actually address already alway apply array assert attribut availabl back better bind bit block branch break button cach character ci 
com compil complet connect contain container content context copy cor correctly current currently custom debug defin develop different disabl display 
due duplicat element empty end environ execut expect failur fals field find flag format found go group header help host html http id ignor import 
index initializ input instanc internal introduc invalid item js label last latest level library linux local longer look mad manager map master match 
memory mod modify multipl need null old open operat order output pars part patch performanc plac platform plugin point port possibl pr prevent print 
process properly provid pull re read relat renam render resolv revert right root script search sect seem select separat shar singl siz sourc spac 
specific specify stack static status stop styl sur switch synchroniz syntax tag tak target templat throw tool tru two unit unnecessary unus url usag 
validat view want way writ wrong|11 12 abl accept account action activ actual additional adjust against allocat another appear around assign assum 
attach attempt authenticat auto automatically background bad bar basic binary bootstrap bound box browser byt calculat cancel catch cherry child 
clarify clean clear cli cluster collect colour common compar compilat compiler condit conflict confus consistent consol constant constructor control 
convert count crash css dat depend descript detail detect devic directly discuss docker doubl download drop easier edit effect engin entry exit 
explicit explicitly export expos express extend extens external extra extract filter foo forc form full functionality futur generic git github giv 
given global guid handler happen hash head helper however improvement incorrect increas initial inlin insid instruct int interfac invok io ip 
javascript job json keep know languag later layout lead leak least left length less limit lint locat lock long loop mac main many mark maximum mean 
ment menu metadata migrat minimum model mount multi namespac nativ necessary nest net network never next non notic optimiz optional original otherwis 
overrid parent parser pick pointer posit post prefix present previous previously privat proper proxy public push put query quot rang readm really 
reason receiv reduc reflect register regress remot report repository reset resourc respons restor rul runtim sampl sav scop second send setup several 
sid similar simpl simplify solv someth sort specificat split standard statement step stor storag stream structur suggest suit tab tabl temporary think 
thread timeout titl top track transit translat travis tre trigger turn undefin useful v1 valid wait web whitespac word workaround wrap wrapper zero|
100 13 14 15 16 ability abstract accord across addon affect alia align along annotat anymor anyth anyway apis append appropriat archiv associat 
asynchronous author backport batch becom begin big bin body boolean bring buffer builder built bundl callback cast cc certain certificat chain 
changelog channel click clon cloud column comma comparison compatibility compatibl completely consider consistency const construct continu contribut 
controller convers correspond coupl cover coverag cp cpu cross databas dead declar declarat definit delay describ design destroy determin developer 
didnt diff differenc direct distribut dns dom driver ds dynamic easily easy email encod enough enter entir equal escap especially everyth exec expand 
explain fact factory fallback fast faster fetch filenam fill final finish fir float focus font forward fram framework fre fs fully good googl grammar 
hack hard height hid hidden highlight history hit hom hook hostnam icon idea immediately important incorrectly indicat inherit initializat insert 
installat integer invocat iterat jenkin join jquery keyword kill kind known lang larg leav legacy licens likely listener literal littl liv loader 
login lookup lot lower ls machin macro makefil manag manifest manual manually markdown meta mistak navigat normal normaliz noth notificat npm occur 
offset ok older opt organizat other outsid overflow owner parallel partial particular party password past pattern peopl perform permiss policy pool 
pre prefer preserv pretty probably produc product profil progress propos protocol provider publish python queu rac rais random raw reader real recent 
record redirect redundant refer refresh regard regex registry reject relativ relevant rely remain repeat requirement resolut respect rest restart 
restrict reus revers rewrit rid rm rs runner saf say scal scenario schedul screen scroll security selector self semantic sens sess shell short 
shouldnt shown sign signatur simply sit situat slightly slow socket solut sometim special specifically speed spell ssl stabl stag startup strip sub 
submit summary symbol term thank that ther therefor thre thrown token touch trac trail transform treat tweak twic ubuntu understand unicod uniqu unix 
unknown unless upstream ur useless utility v0 v2 vector visibl vm vs wasnt width wip worker written xml year|01 02 03 04 09 17 18 19 20 2014 2015 2016 
21 22 23 24 30 32 64 absolut accidentally accordingly activat additionally administrat advanc agent algorithm alias almost alpha alternat alternativ 
amount anchor android animat anywher ap apparently approach arbitrary arch architectur area arent arm arrow ask asset ast automat automatic away 
backward bash basically behav behind believ benchmark best beta blank bool bottom brok bugfix bunch ca caller capability captur cell cento checkbox 
children choos chrom codebas combin combinat communicat complex compress concatenat conditional configurabl confirm consistently consum convent 
copyright credential cs curl customiz cut cycl daemon day deal debian decid decod def defer delegat demo dependent deploy depth descriptor desir 
destinat difficult disallow disconnect discover disk dispatch dist div domain dot dump durat dynamically earlier early edg editor eliminat embed emit 
encounter enforc english enum equivalent evaluat ex exact exactly exclud executabl experienc experimental explanat factor far fatal favor feedback 
figur filesystem fin finally firefox fit fixup flaky flush fork freebsd gc gcc generally gitignor goe grid guard hang happy hardcod heap hello helpful 
henc high higher hint hold hop hopefully identical identifier identify ids ie impossibl inconsistency inconsistent indent indentat individual infinit 
inject inner inspect installer instantiat intend interact internally interval involv ios ipv6 keyboard lack land larger launch layer lazy learn letter 
lib lifecycl listen locally lost low maintain major management markup matter meant mechanism media member minut mirror mismatch mix mobil mock modal 
modificat monitor mostly mous ms mutabl mutat negativ newer newlin newly nic ns numeric observ obsolet obvious official omit op origin originally osx 
outdat overlap overwrit pad pair panel paragraph paus pend period phas pid pip placeholder plain plan play plus png populat possibly potential 
potentially practic prepar press primary prior priority program prompt propagat proposal protect prototyp prs ps purpos quest quick quickly radio ran 
rc reach readability readabl ready rebas rebuild recently recogniz recommend recursiv regardless region regular reload renderer reorder replacement 
represent reproduc resiz retriev retry revis rfc rol round rout row secret seen sent sentenc sequenc serializ serv shadow shift ship shutdown signal 
significant simpler slash sleep slic smaller smart snapshot snippet someon soon span spawn ssh stay std stderr stdout strategy strict struct 
subsequent succeed success successfully super supply suppos suppress swap symlink sys taken tar tcp team tell terminat theyr third thought timer 
timestamp tip tls today todo together toggl tostr total trim truncat tutorial unabl underly unexpect unfortunately unify unneed unsaf unsign unsupport 
upload usernam usr usually utf utf8 v3 variant vendor verbos video violat virtual visibility visual void volum watch websit whenever whitelist whol 
win win32 world x86 xxx|05 06 3rd adapt adapter ago anonymous ascii awar aws belong blog bracket builtin cam car caught center checker clarity claus 
clearer clearly closur colon community complain concat concept consolidat constraint corrupt couldnt counter cursor debugger demonstrat desktop detach 
echo eg eval eventually everywher exceed exe expans fedora feel footer frag front garbag getter gh goal guarante guess horizontal html5 identity 
impact implicit independent infer infrastructur intent interpret investigat isolat java jump latter lowercas magic mask mb md mess middl minimal 
mislead moment month multilin nit onto overridden partially particularly perhap permit pop positiv possibility power precis presenc primitiv proc pur 
recurs registrat retain rework robust router scan scheduler schem sdk secur segment semicolon sh shim simulat sound squash stacktrac stal subclass 
subject successful suffix talk tarball temporarily terminal testcas th tiny took toward transfer trivial tupl typeerror unavailabl underscor unrelat 
upper uppercas uri v4 val visit walk websocket weird went wev what whit writer yield zip`;
