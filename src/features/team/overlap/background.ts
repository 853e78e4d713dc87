/**
 * How common terms are in software tasks in general, so that IDF works in a workspace of five tasks. Document frequencies of the
 * benchmark's repositories, halved from class to class (the first stands in a quarter of all tasks), the mean of the repositories
 * without the two highest and lowest: a word of one product is not common in software. Words that agents put into any title have a
 * floor that pull requests of people do not show.
 */
const CLASSES = `creat fix|remov test updat|bug chang cod documentat error fil implement improv mak refactor|allow api behaviour build call cas cleanup commit 
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

const COMMONEST = 0.25;
/** A term of no class: rarer than all that are in the table. */
const UNKNOWN = 0.0002;

const SHARES = new Map<string, number>(
  CLASSES.split('|').flatMap((terms, at) =>
    terms
      .trim()
      .split(/\s+/)
      .map((term) => [term, COMMONEST / 2 ** at] as const),
  ),
);

/** The share of software tasks in which a term stands. */
export const backgroundShare = (term: string): number => SHARES.get(term) ?? UNKNOWN;
